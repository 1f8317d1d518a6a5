import { telemetry } from './config.ts';

/*
 * All metrics of the functions, for the code and the stack. CloudWatch bills each name by the month, so there
 * is one dimension with one value. A metric without an occurrence is not written: no data means none.
 */

/** Start of the namespace, which the stage's name completes, and the only dimension. */
export const METRICS = { namespace: 'ConversationService', serviceName: 'api' } as const;

/** Requests that passed uncounted because the rate limiter failed. Sum. */
export const RATE_LIMITER_FAILURES = 'RateLimiterFailures';
/** Queue messages that cannot be parsed. Sum. */
export const UNREADABLE_MESSAGES = 'UnreadableMessages';
/** Stored rows that cannot be parsed and were left out. Sum. */
export const UNREADABLE_ROWS = 'UnreadableRows';
/** Messages that a queue gave up after too many receives. Sum. */
export const DEAD_LETTERS = 'DeadLetters';
/** Outbox entries that no retry can process. Sum. */
export const ABANDONED_ENTRIES = 'AbandonedEntries';
/** Endpoints and hours whose ledger differs from their deliveries. Sum. */
export const LEDGER_DIFFERENCE = 'LedgerDifference';

/**
 * Deliveries, live and of sandboxes; latencies of live ones only. Attempt metrics are published every ten
 * seconds, so an idle environment may keep some; `ENDED` is complete.
 */
export const DELIVERED = {
  /**
   * From the commit of an event to the receiver's 2xx, for each delivery that succeeded at any attempt,
   * without redeliveries. Milliseconds, percentiles.
   */
  receiptLatency: 'CommitToReceipt',
  /**
   * From the commit of an event to the start of the first attempt, which the service alone determines;
   * without the stalled queue, which has a batching window. Milliseconds, percentiles.
   */
  attemptLatency: 'CommitToFirstAttempt',
  /** Recorded attempts. Sum. */
  attempts: 'Attempts',
  /** Recorded attempts that failed. Sum. */
  failedAttempts: 'AttemptsFailed',
  /** Waits parked in the table, because they are long or their queue is crowded. Sum. */
  parked: 'DeliveriesParked',
  /** Endpoints and channels disabled by failures. Sum. */
  disabled: 'EndpointsDisabled',
} as const;
/** Ended deliveries by terminal status, from the table's stream. Sums. */
export const ENDED = {
  succeeded: 'DeliveriesSucceeded',
  exhausted: 'DeliveriesExhausted',
  skipped: 'DeliveriesSkipped',
} as const;

/**
 * Delay of the oldest due work: attempts that started a second late or more (dispatcher), and due entries of
 * the index (reconciler, also while no attempt starts). Seconds, maximum.
 */
export const BACKLOG_AGE = 'BacklogAge';
/**
 * Messages in flight of the fullest delivery queue, in percent of SQS's limit, once a minute. From 50, waits
 * are parked. Percent, maximum.
 */
export const IN_FLIGHT = 'InFlightOfLimit';

/** Throttled tries of all dependencies, including those that the SDK repeated. Sum. */
export const THROTTLES = 'Throttles';
/** The same by dependency, as fields of the line: CloudWatch bills metrics, and these need no alarm. */
const THROTTLED = {
  dynamodb: 'ThrottlesDynamoDB',
  streams: 'ThrottlesDynamoDBStreams',
  sqs: 'ThrottlesSQS',
  eventbridge: 'ThrottlesEventBridge',
  secretsmanager: 'ThrottlesSecretsManager',
  cognito: 'ThrottlesCognito',
  ses: 'ThrottlesSES',
  lambda: 'ThrottlesLambda',
} as const;
export type Dependency = keyof typeof THROTTLED;

/**
 * Invocations that failed: an API call answered with 500 or 503, or a worker's batch that is retried as a
 * whole. Sum.
 */
export const FAILED_INVOCATIONS = 'FailedInvocations';

/**
 * Batches of which a bus worker left a failed message in its queue, which Lambda does not count as an error.
 * By worker. Sums.
 */
export const LEFT_IN_QUEUE = {
  meter: 'MeterFailures',
  redeliver: 'RedeliverFailures',
  'check-source': 'CheckSourceFailures',
  notify: 'NotifyFailures',
} as const;
export type BusWorkerName = keyof typeof LEFT_IN_QUEUE;

/** Results of a reconciler run. Sums, except for the last. */
export const RECONCILED = {
  resumed: 'ParkedResumed',
  resent: 'LostResent',
  deferred: 'LateDeferred',
  expired: 'DeliveriesExpired',
  /** Delay of the latest parked delivery. Seconds, maximum. */
  latestSeconds: 'ParkedLatestSeconds',
} as const;
/** Redelivery jobs that no worker ran and whose message was resent. Sum. */
export const REDELIVERIES_RESUMED = 'RedeliveriesResumed';
/** Results of a purge run: deleted rows (sum), open purges and the age of the oldest in seconds (maximum). */
export const PURGED = {
  deleted: 'PurgedRows',
  open: 'PurgesOpen',
  oldestSeconds: 'PurgeOldestSeconds',
} as const;
/**
 * E-mails to admins: sent, failed, of unknown outcome, without a recipient, over an organization's budget or
 * over the limit of all organizations. Sums.
 */
export const MAIL = {
  sent: 'MailSent',
  failed: 'MailFailed',
  unknown: 'MailOutcomeUnknown',
  nobody: 'MailWithoutRecipient',
  overBudget: 'MailOverBudget',
  ceiling: 'MailCeilingReached',
} as const;
/** Sources scheduled by a run (sum), and the delay of the latest (seconds, maximum). */
export const SWEPT = { sent: 'SourcesDue', latestSeconds: 'SourceLatestSeconds' } as const;
/** Finished checks of sources, and those that failed. Sums. */
export const CHECKED = { checked: 'SourcesChecked', failed: 'SourceChecksFailed' } as const;

type Unit = 'Count' | 'Seconds' | 'Milliseconds' | 'Percent';

/** Values not published yet, of this and earlier invocations. */
const collected = new Map<string, { unit: Unit | undefined; values: number[] }>();
/** Whether a value must be published with this invocation. */
let isUrgent = false;
/** Time of the last publication. Milliseconds since the epoch. */
let publishedAt = Number.NEGATIVE_INFINITY;
/** How long routine values are gathered: less than CloudWatch's period of a minute. Milliseconds. */
const PUBLISH_INTERVAL_MS = 10_000;

/**
 * Values recorded within are routine: they may wait for later invocations, which saves log lines. An idle
 * environment loses its unpublished values, so values that alarms need, or that occur once, must not be
 * routine.
 */
export function publishRegularly(record: () => void): void {
  const before = isUrgent;
  record();
  isUrgent = before;
}

const getValues = (name: string, unit: Unit | undefined): number[] => {
  isUrgent = true;
  const { values } = collected.get(name) ?? { values: [] };
  collected.set(name, { unit, values });
  return values;
};

/** Counts occurrences. Zero is not recorded. */
export function count(name: string, occurrences = 1): void {
  if (occurrences > 0) add(name, occurrences, 'Count');
}

function add(name: string, occurrences: number, unit: Unit | undefined): void {
  const values = getValues(name, unit);
  values[0] = (values[0] ?? 0) + occurrences;
}

export function countThrottle(dependency: Dependency): void {
  count(THROTTLES);
  add(THROTTLED[dependency], 1, undefined);
}

/** Records an amount; the maximum counts. Zero is not recorded. */
export function gauge(name: string, value: number, unit: Unit = 'Count'): void {
  // Also skips NaN.
  if (!(value > 0)) return;
  const values = getValues(name, unit);
  values[0] = Math.max(values[0] ?? 0, value);
}

/** Records a value for percentiles. Milliseconds. */
export function sample(name: string, milliseconds: number): void {
  getValues(name, 'Milliseconds').push(milliseconds);
}

/** Most values of a metric in a line. */
const VALUES_IN_LINE = 100;
const { metricsNamespace } = telemetry();

/**
 * Writes the values in CloudWatch's embedded metric format: one log line, without a call; more lines beyond
 * 100 values of a metric. Routine values alone are written every ten seconds.
 */
export function publishMetrics(): void {
  const at = Date.now();
  if (collected.size === 0 || !(isUrgent || at - publishedAt >= PUBLISH_INTERVAL_MS)) return;
  publishedAt = at;
  isUrgent = false;
  const most = Math.max(...[...collected.values()].map(({ values }) => values.length));
  if (metricsNamespace !== undefined)
    for (let first = 0; first < most; first += VALUES_IN_LINE) writeLine(metricsNamespace, at, first);
  collected.clear();
}

/**
 * Source: Amazon CloudWatch, Specification: Embedded metric format.
 * @param first index of each metric's first value in the line
 */
function writeLine(Namespace: string, Timestamp: number, first: number): void {
  const Metrics: { Name: string; Unit: Unit }[] = [];
  const ofName: Record<string, number | number[] | undefined> = {};
  for (const [Name, { unit: Unit, values }] of collected) {
    const some = values.slice(first, first + VALUES_IN_LINE);
    if (some.length === 0) continue;
    if (Unit !== undefined) Metrics.push({ Name, Unit });
    ofName[Name] = some.length === 1 ? some[0] : some;
  }
  const CloudWatchMetrics = [{ Namespace, Dimensions: [['service']], Metrics }];
  const line = { _aws: { Timestamp, CloudWatchMetrics }, service: METRICS.serviceName, ...ofName };
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

/** Measurements of an attempt (`AttemptMetrics`), in milliseconds. */
interface Attempt {
  outcome: string;
  parked: boolean;
  lateMs: number;
  sinceCommitMs?: { first: boolean; begun: number; ended: number };
}

/** An attempt that starts no later than this after its due time is on time. Milliseconds. */
const ON_TIME_MS = 1000;
/** Longer than a batching window: published at once. Milliseconds. */
const TOO_LATE_MS = 30_000;

/** Attempts are routine with any outcome; failed ones are also in the log. */
export const deliveryMetrics = {
  attempt(attempt: Attempt): void {
    if (attempt.lateMs < TOO_LATE_MS) publishRegularly(() => recordAttempt(attempt));
    else recordAttempt(attempt);
  },
  disabled: (): void => count(DELIVERED.disabled),
};

function recordAttempt({ outcome, parked, lateMs, sinceCommitMs }: Attempt): void {
  count(DELIVERED.attempts);
  if (outcome !== 'succeeded') count(DELIVERED.failedAttempts);
  if (parked) count(DELIVERED.parked);
  if (lateMs >= ON_TIME_MS) gauge(BACKLOG_AGE, lateMs / 1000, 'Seconds');
  if (sinceCommitMs === undefined) return;
  if (sinceCommitMs.first) sample(DELIVERED.attemptLatency, sinceCommitMs.begun);
  if (outcome === 'succeeded') sample(DELIVERED.receiptLatency, sinceCommitMs.ended);
}
