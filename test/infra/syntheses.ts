import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The environment variable with the directory in which the workers of one run share their syntheses. */
export const SYNTHESES_VARIABLE = 'TEST_SYNTHESES';

/** Gives the tests of the templates such a directory while they run. */
export default function setup(): () => void {
  const directory = mkdtempSync(join(tmpdir(), 'syntheses-'));
  process.env[SYNTHESES_VARIABLE] = directory;
  return () => rmSync(directory, { recursive: true, force: true });
}
