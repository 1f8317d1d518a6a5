import { readFile, rename, writeFile } from 'node:fs/promises';

/** Mode of files that hold keys. */
export const PRIVATE = 0o600;
export const PUBLIC = 0o644;

/** The text of a file, or undefined when there is none. */
export async function readIfPresent(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Writes the whole file or nothing: a run that is killed meanwhile leaves the old one in place. */
export async function replaceFile(path: string, text: string, mode: number): Promise<void> {
  const unfinished = `${path}.${process.pid}.tmp`;
  await writeFile(unfinished, text, { mode });
  await rename(unfinished, path);
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
