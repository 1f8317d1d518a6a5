import { BACKLOG_AGE, DELIVERED } from './metric-names.ts';
import { count, gauge, routinely, sample } from './metrics.ts';

/** What the dispatcher measures of an attempt (`AttemptMetrics`), in milliseconds. */
interface Attempt {
  outcome: string;
  parked: boolean;
  lateMs: number;
  sinceCommitMs?: { first: boolean; begun: number; ended: number };
}

/** An attempt that begins no later than this after it was due is on time, and no backlog. Milliseconds. */
const ON_TIME_MS = 1000;
/** Later than messages wait for company: something is wrong, and is told at once. Milliseconds. */
const TOO_LATE_MS = 30_000;

/** The dispatcher's measures as metrics. Attempts are routine, whatever comes of them; a failed one is also in the log. */
export const deliveryMetrics = {
  attempt(attempt: Attempt): void {
    if (attempt.lateMs < TOO_LATE_MS) routinely(() => tell(attempt));
    else tell(attempt);
  },
  disabled: (): void => count(DELIVERED.disabled),
};

function tell({ outcome, parked, lateMs, sinceCommitMs }: Attempt): void {
  count(DELIVERED.attempts);
  if (outcome !== 'succeeded') count(DELIVERED.failedAttempts);
  if (parked) count(DELIVERED.parked);
  if (lateMs >= ON_TIME_MS) gauge(BACKLOG_AGE, lateMs / 1000, 'Seconds');
  if (sinceCommitMs === undefined) return;
  if (sinceCommitMs.first) sample(DELIVERED.attemptLatency, sinceCommitMs.begun);
  if (outcome === 'succeeded') sample(DELIVERED.receiptLatency, sinceCommitMs.ended);
}
