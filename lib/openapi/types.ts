import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { currentDocument, dashboardDocument } from './current.ts';
import type { OpenApiDocument } from './openapi.ts';

const ROOT = join(import.meta.dirname, '../..');
/** The generator is the dashboard's, because it needs a TypeScript of its own. */
const dashboard = createRequire(join(ROOT, 'dashboard/package.json'));
const GENERATOR = join(dirname(dashboard.resolve('openapi-typescript/package.json')), 'bin/cli.js');

/** Writes the types of the dashboard and of packages/sdk. */
export function writeTypes(): void {
  write('dashboard/src/api/schema.gen.ts', dashboardDocument());
  write('packages/sdk/src/schema.gen.ts', currentDocument());
}

function write(name: string, document: OpenApiDocument): void {
  const types = execFileSync(process.execPath, [GENERATOR], {
    input: JSON.stringify(document, withoutBodies),
    stdio: ['pipe', 'pipe', 'inherit'],
    encoding: 'utf8',
    maxBuffer: 16 * 1024 * 1024,
  });
  const file = join(ROOT, name);
  // An unchanged file is not written: a compiler may be reading it.
  if (!existsSync(file) || readFileSync(file, 'utf8') !== types) writeFileSync(file, types);
}

/**
 * Leaves out the examples of bodies, which are three quarters of the text. They are beside a schema, where a
 * field named `example` is not.
 */
function withoutBodies(this: object, name: string, value: unknown): unknown {
  const isExample = (name === 'example' || name === 'examples') && 'schema' in this;
  return isExample && typeof value === 'object' ? undefined : value;
}
