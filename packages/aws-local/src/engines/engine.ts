import { accessSync, constants, mkdirSync } from 'node:fs';
import { LocalRunError } from '../errors.ts';

/**
 * A small AWS service on the loopback interface. Its state in a directory survives a kill of the whole run.
 */
export interface Engine {
  /** Such as `http://127.0.0.1:40123`; the port changes with each start. */
  endpoint: string;
  stop(): Promise<void>;
}

/**
 * Creates a writable state directory.
 * @throws LocalRunError when that fails
 */
export function ensureStateDirectory(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true });
    accessSync(directory, constants.W_OK | constants.X_OK);
  } catch (cause) {
    throw new LocalRunError(`The local run cannot keep its state in ${directory}: it is not writable`, {
      cause,
    });
  }
}
