import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/*
 * Writes the types of the API's operations for keys and visitor tokens. The generator is the dashboard's, because
 * it needs a TypeScript of its own.
 */
const ROOT = join(import.meta.dirname, '../../..');

interface Document {
  paths: Record<string, unknown>;
}

const document: Document = JSON.parse(readFileSync(join(ROOT, 'docs/openapi/v1.json'), 'utf8'));
const paths = Object.fromEntries(
  Object.entries(document.paths).filter(([path]) => path.startsWith('/api/v1/')),
);
const dashboard = createRequire(join(ROOT, 'dashboard/package.json'));
const generator = dirname(dashboard.resolve('openapi-typescript/package.json'));
const FILE = join(ROOT, 'packages/sdk/src/schema.gen.ts');

const types = execFileSync(process.execPath, [join(generator, 'bin/cli.js')], {
  input: JSON.stringify({ ...document, paths }, (name, value) =>
    isExample(name, value) ? undefined : value,
  ),
  stdio: ['pipe', 'pipe', 'inherit'],
  encoding: 'utf8',
  maxBuffer: 16 * 1024 * 1024,
});
// An unchanged file is not written: a compiler may be reading it.
if (!existsSync(FILE) || readFileSync(FILE, 'utf8') !== types) writeFileSync(FILE, types);

/** Examples of whole bodies are three quarters of the text. Those of fields stay. */
function isExample(name: string, value: unknown): boolean {
  return (name === 'example' || name === 'examples') && typeof value === 'object' && !Array.isArray(value);
}
