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

/** Throttled tries by dependency, including those that the SDK repeated. Sums. */
export const THROTTLES = {
  dynamodb: 'ThrottlesDynamoDB',
  streams: 'ThrottlesDynamoDBStreams',
  sqs: 'ThrottlesSQS',
  eventbridge: 'ThrottlesEventBridge',
  secretsmanager: 'ThrottlesSecretsManager',
  cognito: 'ThrottlesCognito',
  ses: 'ThrottlesSES',
} as const;
export type Dependency = keyof typeof THROTTLES;

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
