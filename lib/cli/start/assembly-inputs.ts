import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * All that an assembly is made of, besides the context: the app, what it composes, and the versions of what
 * it uses.
 */
const SOURCES = [
  'bin/app.ts',
  'lib/cloud',
  'lib/openapi',
  'functions',
  'dashboard/index.html',
  'dashboard/package.json',
  'dashboard/public',
  'dashboard/src',
  'dashboard/tsconfig.json',
  'dashboard/vite.config.ts',
  'package.json',
  'package-lock.json',
];

/**
 * Names what an assembly would be made of now: the same for the same sources, context and Node.js, and
 * another one whenever one of them changes.
 * @param project absolute
 */
export async function fingerprintOf(project: string, context: object): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify([process.version, context]));
  for (const source of SOURCES)
    for (const path of await filesOf(join(project, source))) {
      const content = await readFile(path);
      hash.update(`${path.slice(project.length)}\0${content.length}\0`).update(content);
    }
  return hash.digest('hex');
}

/** A file itself, or all files below a directory, in a fixed order. */
async function filesOf(path: string): Promise<string[]> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true }).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOTDIR') return undefined;
    throw error;
  });
  if (entries === undefined) return [path];
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}
