import { parentPort, workerData } from 'node:worker_threads';
import type { Share, Tidings } from './campaign.ts';
import { type Outcome, simulate } from './simulate.ts';
import { Statistics } from './statistics.ts';

/* A thread of a campaign, which runs its share of the seeds. */
const { firstSeed, step, runs } = workerData as Share;

/** Runs between two reports. */
const PORTION = 100;

for (let run = 0; run < runs; ) {
  const statistics = new Statistics();
  const findings: Outcome[] = [];
  const begun = run;
  for (; run < runs && run < begun + PORTION; run += 1) {
    const outcome = await simulate(firstSeed + run * step);
    statistics.add(outcome.counts);
    if (outcome.violation !== undefined) findings.push(outcome);
  }
  parentPort?.postMessage({ runs: run - begun, counts: [...statistics.counts], findings } satisfies Tidings);
}
