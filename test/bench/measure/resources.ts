import { type LocalRun, startLocalRun, temporaryDirectory } from '../../support/local-run.ts';

/** Clean-up when the benchmark is interrupted, because the processes that it started would continue. */
const undone = new Set<() => Promise<unknown>>();

/** Uses a resource that must be closed, also when the benchmark is interrupted. */
export async function ending<T, R>(
  started: T,
  end: (started: T) => Promise<unknown>,
  use: (started: T) => Promise<R>,
): Promise<R> {
  const once = () => {
    undone.delete(once);
    return end(started);
  };
  undone.add(once);
  try {
    return await use(started);
  } finally {
    if (undone.has(once)) await once();
  }
}

/** Starts a local run in a directory of its own, as a user would, and ends both afterwards. */
export async function withLocalRun<R>(
  use: (run: LocalRun) => Promise<R>,
  settings: Record<string, string> = {},
): Promise<R> {
  const directory = await temporaryDirectory();
  return ending(
    directory,
    () => directory.remove(),
    async ({ path }) => ending(await startLocalRun(path, settings), (run) => run.interrupt(), use),
  );
}

/** Ends the process at Ctrl-C, after closing the resources in reverse order. */
export function endWhenInterrupted(): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, async () => {
      for (const undo of [...undone].reverse()) await undo().catch(() => undefined);
      process.exit(130);
    });
}
