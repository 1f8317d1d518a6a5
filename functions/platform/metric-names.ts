/*
 * Every metric that the functions write, for them and for the stack that watches. CloudWatch bills each name
 * by the month, so that there is one dimension with one value, and what differs in kind has a name instead. A
 * metric without an occurrence is not written at all: no data means none.
 */

/** What the namespace begins with, which a stage's name ends, and the dimension of them all. */
export const METRICS = { namespace: 'ConversationService', serviceName: 'api' } as const;

/** Requests that passed uncounted because the rate limiter failed. Sum. */
export const RATE_LIMITER_FAILURES = 'RateLimiterFailures';
/** Queue messages of no known form. Sum. */
export const UNREADABLE_MESSAGES = 'UnreadableMessages';
/** Stored rows that were left out of what was read because they cannot be read. Sum. */
export const UNREADABLE_ROWS = 'UnreadableRows';
/** Messages that a queue gave up after too many receives. Sum. */
export const DEAD_LETTERS = 'DeadLetters';
/** Entries of the outbox that no repetition can process. Sum. */
export const ABANDONED_ENTRIES = 'AbandonedEntries';
/** Endpoints and hours whose ledger is not what their deliveries say. Sum. */
export const LEDGER_DIFFERENCE = 'LedgerDifference';

/**
 * What becomes of deliveries. Live ones and those of sandboxes count; latencies are of live ones alone.
 * Attempts are told of once in ten seconds, so that an environment that is not used any more may keep some to
 * itself; how deliveries end (`ENDED`) is complete.
 */
export const DELIVERED = {
  /**
   * From the commit of an event to the receiver's 2xx, for each delivery that succeeded, whatever attempt that took; redeliveries are left out.
   * Milliseconds, percentiles.
   */
  receiptLatency: 'CommitToReceipt',
  /**
   * From the commit of an event to the beginning of the first attempt: what the service alone answers for. Endpoints that stall are left out, whose
   * messages wait for company. Milliseconds, percentiles.
   */
  attemptLatency: 'CommitToFirstAttempt',
  /** Attempts that were made and recorded. Sum. */
  attempts: 'Attempts',
  /** Those of them that the receiver did not accept. Sum. */
  failedAttempts: 'AttemptsFailed',
  /** Waits that are spent in the table, because they are long or their queue is crowded. Sum. */
  parked: 'DeliveriesParked',
  /** Endpoints and channels that were disabled by their failures. Sum. */
  disabled: 'EndpointsDisabled',
} as const;
/** Ends of deliveries by their terminal status, as their table's stream tells them. Sums. */
export const ENDED = {
  succeeded: 'DeliveriesSucceeded',
  exhausted: 'DeliveriesExhausted',
  skipped: 'DeliveriesSkipped',
} as const;

/**
 * How late what is due is, at the oldest: of attempts that began a second late or more, by the dispatcher; of
 * what waits in the due index, by the reconciler, which says so also while no attempt begins. Seconds,
 * maximum.
 */
export const BACKLOG_AGE = 'BacklogAge';
/**
 * Messages in flight of the fullest delivery queue, in percent of SQS's limit, once a minute. From 50 on,
 * waits are parked. Percent, maximum.
 */
export const IN_FLIGHT = 'InFlightOfLimit';

/**
 * Tries of calls that a dependency throttled, each counted, also where the SDK's next try succeeded. Sums.
 */
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
 * Invocations that ended with an error: an API call answered with 500 or 503, or a worker's batch that comes
 * again as a whole. Sum.
 */
export const FAILED_INVOCATIONS = 'FailedInvocations';

/**
 * Batches of which a worker behind the bus has left a message in its queue because dealing with it failed,
 * which to Lambda is no error. By the worker's name. Sums.
 */
export const LEFT_IN_QUEUE = {
  meter: 'MeterFailures',
  redeliver: 'RedeliverFailures',
  'check-source': 'CheckSourceFailures',
  notify: 'NotifyFailures',
} as const;
export type BusWorkerName = keyof typeof LEFT_IN_QUEUE;

/** What a run of the reconciler did. Sums, but for the last. */
export const RECONCILED = {
  resumed: 'ParkedResumed',
  resent: 'LostResent',
  deferred: 'LateDeferred',
  expired: 'DeliveriesExpired',
  /** How late the latest parked delivery was resumed. Seconds, maximum. */
  latestSeconds: 'ParkedLatestSeconds',
} as const;
/** Redelivery jobs that no worker had for long, and whose message was sent again. Sum. */
export const REDELIVERIES_RESUMED = 'RedeliveriesResumed';
/**
 * What a run of the purge did, and what it left: rows deleted (sum), purges open and the age of the oldest in
 * seconds (maximum).
 */
export const PURGED = {
  deleted: 'PurgedRows',
  open: 'PurgesOpen',
  oldestSeconds: 'PurgeOldestSeconds',
} as const;
/**
 * E-mails to admins: sent, failed, of unknown outcome, without a recipient; changes of content that were left
 * to a digest, and e-mails that the stage's ceiling held back. Sums.
 */
export const MAIL = {
  sent: 'MailSent',
  failed: 'MailFailed',
  unknown: 'MailOutcomeUnknown',
  nobody: 'MailWithoutRecipient',
  digested: 'MailDigested',
  ceiling: 'MailCeilingReached',
} as const;
/** What a run of the sweep did (sum), and how late the latest source was (seconds, maximum). */
export const SWEPT = { sent: 'SourcesDue', latestSeconds: 'SourceLatestSeconds' } as const;
/** Checks of sources, and those that brought no content. Sums. */
export const CHECKED = { checked: 'SourcesChecked', failed: 'SourceChecksFailed' } as const;
