import { exitCodeOf } from '../terminal/program.ts';
import { createScreen } from '../terminal/screen.ts';
import { awaitStopRequest } from '../terminal/stop-request.ts';
import { FORWARD_USAGE, readForwardArguments } from './arguments.ts';
import { forward } from './forward.ts';

/** Nothing but a file to write is left to do. */
const GRACE_MS = 1000;

/**
 * `npm run forward`.
 * @returns the exit code
 */
export async function forwardCommand(args: readonly string[]): Promise<number> {
  const stop = awaitStopRequest({ graceMs: GRACE_MS });
  const program = async () => {
    const forwardArguments = readForwardArguments(args);
    if (forwardArguments === 'help') {
      process.stdout.write(FORWARD_USAGE);
      return;
    }
    await forward(forwardArguments, {
      variables: process.env,
      cwd: process.cwd(),
      screen: createScreen(process.stdout),
      signal: stop.signal,
    });
  };
  return exitCodeOf(program, { usage: FORWARD_USAGE, signal: stop.signal, errors: process.stderr });
}
