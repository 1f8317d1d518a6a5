import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Names the directory where the workers of one run leave each other what they have synthesized. */
export const SYNTHESES_VARIABLE = 'TEST_SYNTHESES';

/** Gives the tests of the templates such a directory while they run. */
export default function setup(): () => void {
  const directory = mkdtempSync(join(tmpdir(), 'syntheses-'));
  process.env[SYNTHESES_VARIABLE] = directory;
  return () => rmSync(directory, { recursive: true, force: true });
}
