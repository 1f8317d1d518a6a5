import { expect, it } from 'vitest';
import { compareBesideJobs, MOST_TIMES, runAtLimit } from './beside-jobs.ts';

/** At this speed a job of 100,000 takes an hour. */
const HOUR_OF_100_000 = 100_000 / 3600;
/** At this speed a job of 20,000 does, in the smallest stage. */
const HOUR_OF_20_000 = 20_000 / 3600;

it.each([
  ['production', [50, 150], HOUR_OF_100_000],
  ['staging', [50, 150], HOUR_OF_100_000],
  ['development', [50, 150], HOUR_OF_20_000],
  ['production', [700, 900], HOUR_OF_100_000 / 3],
] as const)(
  'live events in stage %s are not delayed by a job of 20,000 at a receiver that takes %j ms',
  async (stage, receiverMs, least) => {
    const terms = { stage, receiverMs, jobs: 1, failed: 20_000 };

    const { ratio, perSecond, attempts, mostOutstanding, mostAtOnce } = await compareBesideJobs(terms, 120);

    expect(ratio).toBeLessThanOrEqual(MOST_TIMES);
    expect(mostOutstanding).toBeLessThanOrEqual(mostAtOnce);
    expect(perSecond).toBeGreaterThan(least);
    expect(attempts.filter((count) => count !== 1)).toEqual([]);
  },
);

it('live events are not delayed by the end of a pause in which 20,000 were skipped', async () => {
  const terms = { stage: 'production', receiverMs: [50, 150], jobs: 1, failed: 20_000, everyMs: 20 } as const;

  const { ratio, attempts } = await compareBesideJobs({ ...terms, isPlanned: true }, 120);

  expect(ratio).toBeLessThanOrEqual(MOST_TIMES);
  expect(attempts.filter((count) => count !== 1)).toEqual([]);
});

it('live events are not delayed by ten jobs at a time', async () => {
  const terms = { stage: 'production', receiverMs: [100, 300], jobs: 10, failed: 1000 } as const;

  const { ratio, attempts } = await compareBesideJobs(terms, 60);

  expect(ratio).toBeLessThanOrEqual(MOST_TIMES);
  expect(attempts.filter((count) => count !== 1)).toEqual([]);
});

it('live events come between the deliveries of a job of 2,000 at an endpoint with a limit', async () => {
  const { attempts, ...most } = await runAtLimit(2000);

  expect(most).toEqual({ mostOutstanding: 2, mostBefore: 2 });
  expect(attempts.filter((count) => count !== 1)).toEqual([]);
});
