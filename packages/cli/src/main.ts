import { awaitStopRequest } from 'terminal/stop-request.ts';
import { createProgram } from './program.ts';

/** Enough for the call that deletes the endpoint of `listen`. */
const GRACE_MS = 2800;

/**
 * Runs `conversations`.
 * @param args without the program
 * @returns the exit code
 */
export async function main(args: readonly string[]): Promise<number> {
  const { signal } = awaitStopRequest({ graceMs: GRACE_MS });
  const { stdin, stdout, stderr } = process;
  const { program, exitCode } = createProgram({
    variables: process.env,
    cwd: process.cwd(),
    stdin,
    stdout,
    stderr,
    signal,
  });
  await program.parseAsync(args, { from: 'user' });
  return exitCode();
}
