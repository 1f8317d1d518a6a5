import { rmSync } from 'node:fs';
import { onTestFinished } from 'vitest';
import { createMemoryDirectory } from '../support/memory-directory.ts';

/** An empty directory, deleted after the test and after everything that the test stops. */
export function temporaryDirectory(): string {
  const directory = createMemoryDirectory('local-run-');
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}
