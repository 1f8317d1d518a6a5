import { FAIR_TERMS, type FairTerms } from 'aws-local/engines/fair-groups.ts';
import { LONG_BACKLOG } from '../../functions/domain/due.ts';
import { DEFAULT_RETRY_POLICY, type RetryPolicy } from '../../functions/domain/timing.ts';
import { ATTEMPTS } from './promises.ts';
import type { Random } from './random.ts';

/** What the deployment of a run has set. */
export interface Terms {
  retry: RetryPolicy;
  /** Attempts that a delivery has. */
  attempts: number;
  graceSeconds: number;
  maxReceives: number;
  /** Dispatchers at once, and messages that one takes. */
  dispatchers: number;
  batchSize: number;
  /** Failures in a row after which the fan-out's mapping gives a batch up; a hundred when deployed. */
  fanOutTries: number;
  /** For how long a run of the purge has an order for itself. */
  purgeLeaseSeconds: number;
  /** How often the purge waits for a minute and more for what it looks for. */
  slowFinds: number;
  /** Messages waiting in a queue from which on late deliveries are deferred. */
  longBacklog: number;
  /** One tenant has most of the events, many at once. */
  isUnequal: boolean;
  /** Which message groups a queue holds back. A run has a few messages, where AWS counts from thirty. */
  fair: FairTerms;
}

export const termsOf = (random: Random, isCalm: boolean): Terms => ({
  ...someRetries(random),
  graceSeconds: isCalm ? 900 : random.pick([900, 900, 120]),
  maxReceives: isCalm ? 100 : random.pick([100, 12, 3]),
  // Enough that nothing waits for a dispatcher when it has to come in time.
  dispatchers: isCalm ? 8 : random.between(1, 4),
  batchSize: isCalm ? 10 : random.between(1, 10),
  fanOutTries: random.pick([0, 1, 4]),
  // It only saves work: several at once must do as well.
  purgeLeaseSeconds: isCalm ? 960 : random.pick([960, 960, 1]),
  slowFinds: isCalm ? 0 : random.pick([0, 0.25]),
  longBacklog: isCalm ? LONG_BACKLOG : random.pick([LONG_BACKLOG, 0, 2]),
  isUnequal: random.chance(0.3),
  fair: random.pick([FAIR_TERMS, { ...FAIR_TERMS, leastInFlight: 2 }]),
});

/** Where deliveries have few attempts, more of them fail than anywhere else, among others that succeed. */
function someRetries(random: Random): Pick<Terms, 'retry' | 'attempts'> {
  const retry = random.pick([
    DEFAULT_RETRY_POLICY,
    DEFAULT_RETRY_POLICY,
    { ...DEFAULT_RETRY_POLICY, baseSeconds: 1, capSeconds: 60 },
    { ...DEFAULT_RETRY_POLICY, baseSeconds: 1000 },
  ]);
  const attempts = random.pick([ATTEMPTS, ATTEMPTS, ATTEMPTS, 1, 1, 2]);
  return { attempts, retry: attempts === ATTEMPTS ? retry : { ...retry, maxAttempts: attempts } };
}
