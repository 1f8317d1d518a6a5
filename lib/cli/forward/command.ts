import { exitCodeOf } from '../terminal/program.ts';
import { createScreen } from '../terminal/screen.ts';
import { awaitStopRequest } from '../terminal/stop-request.ts';
import { readForwardArguments } from './arguments.ts';
import { forward } from './forward.ts';

/** Enough to write one file. */
const GRACE_MS = 1000;

/**
 * Runs `npm run forward`.
 * @returns the exit code
 */
export async function forwardCommand(args: readonly string[]): Promise<number> {
  const forwardArguments = readForwardArguments(args);
  const { signal } = awaitStopRequest({ graceMs: GRACE_MS });
  const program = () =>
    forward(forwardArguments, {
      variables: process.env,
      cwd: process.cwd(),
      screen: createScreen(process.stdout),
      signal,
    });
  return exitCodeOf(program, { signal, errors: process.stderr });
}
