import type { Job, JobOrder } from '../../api/redeliveries.ts';
import type { Endpoint } from '../../api/webhooks.ts';

/** What the jobs of an endpoint say about one kind of resending. */
export interface JobState {
  /** The job that is running, of any kind: an endpoint has one at a time. */
  running: Job | undefined;
  /** The last count, unless something was resent since. */
  counted: Job | undefined;
  /** The last job that resent. */
  resent: Job | undefined;
}

/** @param jobs newest first */
export function stateOf(jobs: readonly Job[], what: Job['what']): JobState {
  const running = jobs.find(({ status }) => status === 'running');
  const own = jobs.filter((job) => job.what === what && job.status !== 'running');
  const resent = own.find(({ dryRun }) => !dryRun);
  const counted = own.find(({ dryRun, status }) => dryRun && status === 'done');
  const isOutdated = counted !== undefined && resent !== undefined && resent.createdAt > counted.createdAt;
  return { running, resent, counted: isOutdated ? undefined : counted };
}

/** What they say about the recovery of an outage: those of a disabled endpoint are of an earlier one. */
export const recoveryStateOf = ({ status }: Pick<Endpoint, 'status'>, jobs: readonly Job[]): JobState =>
  stateOf(status === 'auto_disabled' ? [] : jobs, 'missing');

/** Whether nothing is left to do: all was resent, or a count found nothing. */
export const isComplete = ({ running, counted, resent }: JobState): boolean =>
  running === undefined && (counted === undefined ? resent?.status === 'done' : counted.redelivered === 0);

const MINUTE_MS = 60_000;
const isNear = (one: string, other: string): boolean =>
  Math.abs(Date.parse(one) - Date.parse(other)) < MINUTE_MS;

/**
 * Whether a count is one of what would be resent. The service moves a beginning that is more than 30 days
 * ago, and an end in the future.
 */
export const isCountOf = (count: Job, order: JobOrder): boolean =>
  count.what === (order.what ?? 'failed') &&
  isNear(count.from, order.from) &&
  isNear(count.to, order.to ?? count.createdAt) &&
  (order.statuses === undefined || sameItems(count.statuses, order.statuses));

const sameItems = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((item) => other.includes(item));

const QUARTERS = 4;

/** Progress for those who hear it: in quarters, so that it is not said every two seconds. 0 to 1. */
export const quarterOf = (progress: number): number => Math.floor(progress * QUARTERS) / QUARTERS;
