import { BACKLOG_AGE, DELIVERED } from './metric-names.ts';
import { count, gauge, sample } from './metrics.ts';

/** What the dispatcher measures of an attempt (`DispatchMeasures`), in milliseconds. */
interface Attempt {
  outcome: string;
  parked: boolean;
  lateMs: number;
  sinceCommitMs?: { first: boolean; begun: number; ended: number };
}

/** The dispatcher's measures as metrics. */
export const deliveryMetrics = {
  attempt({ outcome, parked, lateMs, sinceCommitMs }: Attempt): void {
    count(DELIVERED.attempts);
    if (outcome !== 'succeeded') count(DELIVERED.failedAttempts);
    if (parked) count(DELIVERED.parked);
    gauge(BACKLOG_AGE, lateMs / 1000, 'Seconds');
    if (sinceCommitMs === undefined) return;
    if (sinceCommitMs.first) sample(DELIVERED.attemptLatency, sinceCommitMs.begun);
    if (outcome === 'succeeded') sample(DELIVERED.receiptLatency, sinceCommitMs.ended);
  },
  disabled: (): void => count(DELIVERED.disabled),
};
