import { expect, it } from 'vitest';
import { compareBesideJobs, MOST_TIMES, runAtLimit } from './beside-jobs.ts';

it.each([
  { stage: 'production', receiverMs: [50, 150], jobs: 1, failed: 400 },
  { stage: 'staging', receiverMs: [300, 500], jobs: 3, failed: 60 },
] as const)('live events are not delayed by redelivery jobs, each resent once: %j', async (terms) => {
  const { ratio, attempts, events, failed, mostOutstanding, mostAtOnce } = await compareBesideJobs(terms, 20);

  expect(ratio).toBeLessThanOrEqual(MOST_TIMES);
  expect(mostOutstanding).toBeLessThanOrEqual(mostAtOnce);
  expect(events).toBeGreaterThan(failed);
  expect(attempts.filter((count) => count !== 1)).toEqual([]);
});

it('live events come between the deliveries of a job at an endpoint with a limit', async () => {
  const { attempts, ...most } = await runAtLimit(200);

  expect(most).toEqual({ mostOutstanding: 2, mostBefore: 2 });
  expect(attempts.filter((count) => count !== 1)).toEqual([]);
});
