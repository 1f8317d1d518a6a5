import { accessSync, constants, mkdirSync } from 'node:fs';
import { LocalRunError } from '../errors.ts';

/**
 * A service of AWS in small. Listens on the loopback interface, keeps its state in a directory and loses none
 * of it when the whole run is killed.
 */
export interface Engine {
  /** For example `http://127.0.0.1:40123`, another port after each start. */
  endpoint: string;
  stop(): Promise<void>;
}

/**
 * Makes sure that an engine can keep its state in `directory`.
 *
 * @throws LocalRunError when the directory cannot be made or written to
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
