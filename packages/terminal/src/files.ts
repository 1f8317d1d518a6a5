import { readFile, rename, writeFile } from 'node:fs/promises';

/** Mode of files that hold keys. */
export const PRIVATE = 0o600;
export const PUBLIC = 0o644;

/** @returns undefined when there is no such file */
export async function readIfPresent(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Atomic: a run that is killed meanwhile leaves the old file. */
export async function replaceFile(path: string, text: string, mode: number): Promise<void> {
  const unfinished = `${path}.${process.pid}.tmp`;
  await writeFile(unfinished, text, { mode });
  await rename(unfinished, path);
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
