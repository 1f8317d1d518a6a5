import { Worker } from 'node:worker_threads';
import type { Outcome } from './simulate.ts';
import { Statistics } from './statistics.ts';

/** The parameters of a thread. */
export interface Share {
  firstSeed: number;
  step: number;
  runs: number;
}

/**
 * A thread's report: how many runs it has made since the last one, what happened in them, and broken
 * promises.
 */
export interface Tidings {
  runs: number;
  counts: [string, number][];
  findings: Outcome[];
}

export interface Campaign {
  statistics: Statistics;
  findings: Outcome[];
}

/**
 * Runs the seeds from `seed` on, spread over threads.
 * @param onProgress called with the number of runs that are done, and the broken promises so far
 */
export async function campaign(
  { runs, seed, workers }: { runs: number; seed: number; workers: number },
  onProgress: (done: number, findings: readonly Outcome[]) => void,
): Promise<Campaign> {
  const statistics = new Statistics();
  const findings: Outcome[] = [];
  let done = 0;
  const shares = Array.from(
    { length: workers },
    (_, index): Share => ({
      firstSeed: seed + index,
      step: workers,
      runs: Math.ceil((runs - index) / workers),
    }),
  );
  const threads: Worker[] = [];
  try {
    await Promise.all(
      shares.map((share) => {
        const thread = new Worker(new URL('./seeds.ts', import.meta.url), { workerData: share });
        threads.push(thread);
        thread.on('message', (tidings: Tidings) => {
          done += tidings.runs;
          statistics.add(tidings.counts);
          findings.push(...tidings.findings);
          onProgress(done, findings);
        });
        return new Promise<void>((resolve, reject) => {
          thread.once('error', reject);
          thread.once('exit', () => resolve());
        });
      }),
    );
  } finally {
    await Promise.all(threads.map((thread) => thread.terminate()));
  }
  return { statistics, findings: findings.toSorted((a, b) => a.seed - b.seed) };
}
