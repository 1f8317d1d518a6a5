import { exitCodeOf } from '../terminal/program.ts';
import { createScreen } from '../terminal/screen.ts';
import { awaitStopRequest } from '../terminal/stop-request.ts';
import { readListenArguments } from './arguments.ts';
import { listen } from './listen.ts';

/** Enough for the call that deletes the endpoint. */
const GRACE_MS = 2800;

/**
 * Runs `npm run listen`.
 * @returns the exit code
 */
export async function listenCommand(args: readonly string[]): Promise<number> {
  const listenArguments = readListenArguments(args);
  const { signal } = awaitStopRequest({ graceMs: GRACE_MS });
  const program = () =>
    listen(listenArguments, {
      variables: process.env,
      cwd: process.cwd(),
      screen: createScreen(process.stdout),
      signal,
    });
  return exitCodeOf(program, { signal, errors: process.stderr });
}
