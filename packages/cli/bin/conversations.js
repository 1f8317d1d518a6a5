#!/usr/bin/env node
import { existsSync } from 'node:fs';

// In the repository Node.js runs the sources. A package has its build only.
const sources = new URL('../src/main.ts', import.meta.url);
const isRepository = existsSync(sources);
const required = isRepository ? 24 : 20;

if (Number.parseInt(process.versions.node, 10) < required) {
  process.stderr.write(`Node.js ${required} or newer is needed, and this is ${process.versions.node}.\n`);
  process.exit(1);
}
const program = isRepository ? sources : new URL('../dist/conversations.js', import.meta.url);
const { main } = await import(program.href);
process.exitCode = await main(process.argv.slice(2));
