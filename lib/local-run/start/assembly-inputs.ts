import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Inputs of an assembly besides the context: the app, its parts, and dependency versions. */
const SOURCES = [
  'bin/app.ts',
  'lib/infra',
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
 * Digest of an assembly's inputs: sources, context and Node.js version.
 * @param project absolute
 */
export async function fingerprintOf(project: string, context: object): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify([process.version, context]));
  for (const source of SOURCES)
    for (const path of await listFiles(join(project, source))) {
      const content = await readFile(path);
      hash.update(`${path.slice(project.length)}\0${content.length}\0`).update(content);
    }
  return hash.digest('hex');
}

/** The file, or all files below the directory, in a fixed order. */
async function listFiles(path: string): Promise<string[]> {
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
