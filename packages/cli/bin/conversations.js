#!/usr/bin/env node
import { existsSync } from 'node:fs';

const REQUIRED_MAJOR = 24;

if (Number.parseInt(process.versions.node, 10) < REQUIRED_MAJOR) {
  process.stderr.write(
    `Node.js ${REQUIRED_MAJOR} or newer is needed, and this is ${process.versions.node}.\n`,
  );
  process.exit(1);
}
// Node.js runs the sources in the repository. A published package has its build only.
const sources = new URL('../src/main.ts', import.meta.url);
const { main } = await import(
  existsSync(sources) ? sources.href : new URL('../dist/conversations.js', import.meta.url).href
);
process.exitCode = await main(process.argv.slice(2));
