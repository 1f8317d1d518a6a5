import type { Readable, Writable } from 'node:stream';
import type { Variables } from 'terminal/local-run/directory.ts';

/** Streams of a terminal, or of a pipe. */
type Input = Readable & { isTTY?: boolean; setRawMode?(isRaw: boolean): unknown };
type Output = Writable & { isTTY?: boolean };

/** What a command uses of its process. */
export interface Context {
  variables: Variables;
  cwd: string;
  stdin: Input;
  stdout: Output;
  stderr: Output;
  /** Aborts when the user stops the program. */
  signal: AbortSignal;
}
