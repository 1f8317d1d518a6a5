import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/**
 * An empty directory that goes away when the test has finished, after whatever the test still has to stop.
 */
export function stateDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'engines-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}
