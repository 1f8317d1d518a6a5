import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RECORDS_VARIABLE } from './records.ts';

/**
 * Gives the services under test a directory for the records of their functions' calls, while the tests run.
 */
export default function setup(): () => void {
  const directory = mkdtempSync(join(tmpdir(), 'permissions-'));
  process.env[RECORDS_VARIABLE] = directory;
  return () => rmSync(directory, { recursive: true, force: true });
}
