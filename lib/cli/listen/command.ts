import { exitCodeOf } from '../terminal/program.ts';
import { createScreen } from '../terminal/screen.ts';
import { awaitStopRequest } from '../terminal/stop-request.ts';
import { LISTEN_USAGE, readListenArguments } from './arguments.ts';
import { listen } from './listen.ts';

/** Enough for the one call that deletes the endpoint. */
const GRACE_MS = 2800;

/**
 * `npm run listen`.
 * @returns the exit code
 */
export async function listenCommand(args: readonly string[]): Promise<number> {
  const stop = awaitStopRequest({ graceMs: GRACE_MS });
  const program = async () => {
    const listenArguments = readListenArguments(args);
    if (listenArguments.help) {
      process.stdout.write(LISTEN_USAGE);
      return;
    }
    await listen(listenArguments, {
      variables: process.env,
      cwd: process.cwd(),
      screen: createScreen(process.stdout),
      signal: stop.signal,
    });
  };
  return exitCodeOf(program, { usage: LISTEN_USAGE, signal: stop.signal, errors: process.stderr });
}
