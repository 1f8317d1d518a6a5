import { accessSync, constants, mkdtempSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Where Linux keeps files in memory. */
const IN_MEMORY = '/dev/shm';
/** The directory of a run of tests in memory, in which it makes all others. */
export const MEMORY_VARIABLE = 'TEST_MEMORY_DIRECTORY';
/** Much more than the runs of a test suite need; containers often have 64 MiB. */
const ENOUGH_BYTES = 2 * 1024 ** 3;

/**
 * Creates a directory for the state of engines, in memory if there is enough: the embedded DynamoDB waits for
 * the disk with each write, which no test examines and which takes most of the time of a write.
 */
export const createMemoryDirectory = (prefix: string): string => mkdtempSync(join(parent(), prefix));

function parent(): string {
  const { [MEMORY_VARIABLE]: given } = process.env;
  if (given) return given;
  try {
    accessSync(IN_MEMORY, constants.W_OK);
    const { bavail, bsize } = statfsSync(IN_MEMORY);
    return bavail * bsize >= ENOUGH_BYTES ? IN_MEMORY : tmpdir();
  } catch {
    return tmpdir();
  }
}
