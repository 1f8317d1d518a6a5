import { FAIR_TERMS, type FairTerms } from 'aws-local/engines/fair-groups.ts';
import { LONG_BACKLOG } from '../../functions/delivery/reconcile.ts';
import { DEFAULT_RETRY_POLICY, type RetryPolicy } from '../../functions/delivery/timing.ts';
import { ATTEMPTS } from './promises.ts';
import type { Random } from './random.ts';

/** The settings of a run's deployment. */
export interface Terms {
  retry: RetryPolicy;
  /** Maximum of attempts of a delivery. */
  attempts: number;
  graceSeconds: number;
  maxReceives: number;
  /** Concurrent dispatchers, and messages of a batch. */
  dispatchers: number;
  batchSize: number;
  /** Failures in a row after which the fan-out's mapping gives a batch up; a hundred when deployed. */
  fanOutTries: number;
  /** Duration of the lease of a purge. */
  purgeLeaseSeconds: number;
  /** How often the purge waits a minute or more for its reads. */
  slowFinds: number;
  /** Messages in a queue from which on late deliveries are deferred. */
  longBacklog: number;
  /** Of redelivery jobs: the time of a round, size of a page, and deliveries that wait at a time. */
  roundSeconds: number;
  pageSize: number;
  window: number;
  /** One tenant has most of the events, many at once. */
  isUnequal: boolean;
  /** Which message groups a queue holds back. A run has few messages, while AWS counts from thirty. */
  fair: FairTerms;
  /** Above it, the wait of a delivery for its turn is parked. */
  longestTurnMs: number;
}

export const termsOf = (random: Random, isCalm: boolean): Terms => ({
  ...someRetries(random),
  graceSeconds: isCalm ? 900 : random.pick([900, 900, 120]),
  maxReceives: isCalm ? 100 : random.pick([100, 12, 3]),
  // Enough that no message waits for a dispatcher when it has to be received in time.
  dispatchers: isCalm ? 8 : random.between(1, 4),
  batchSize: isCalm ? 10 : random.between(1, 10),
  fanOutTries: random.pick([0, 1, 4]),
  // It only saves work: several at once must be correct too.
  purgeLeaseSeconds: isCalm ? 960 : random.pick([960, 960, 1]),
  slowFinds: isCalm ? 0 : random.pick([0, 0.25]),
  longBacklog: isCalm ? LONG_BACKLOG : random.pick([LONG_BACKLOG, 0, 2]),
  roundSeconds: random.pick([0, 2, 10]),
  pageSize: random.pick([1, 8, 200]),
  window: random.pick([1, 2, 16]),
  isUnequal: random.chance(0.3),
  fair: random.pick([FAIR_TERMS, { ...FAIR_TERMS, leastInFlight: 2 }]),
  // No run lasts long enough for a line of five minutes.
  longestTurnMs: random.pick([300_000, 2000]),
});

/** With few attempts for each delivery, more deliveries fail while others succeed. */
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
