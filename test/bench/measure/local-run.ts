import { type LocalRun, startLocalRun, temporaryDirectory } from '../../support/local-run.ts';
import { ending } from './interruption.ts';

/** Starts a local run in a directory of its own, as a user would, and ends both afterwards. */
export async function withLocalRun<R>(use: (run: LocalRun) => Promise<R>): Promise<R> {
  const directory = await temporaryDirectory();
  return ending(
    directory,
    () => directory.remove(),
    async ({ path }) => ending(await startLocalRun(path), (run) => run.interrupt(), use),
  );
}
