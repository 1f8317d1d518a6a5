import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** An empty directory, deleted after the test and after everything that the test stops. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'local-run-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}
