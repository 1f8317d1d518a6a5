/** Namespace and dimension of what alarms watch, for the functions that count and the stack that watches. */
export const METRICS = { namespace: 'ConversationService', serviceName: 'api' } as const;
export const RATE_LIMITER_FAILURES = 'RateLimiterFailures';
/** Queue messages of no known form. */
export const UNREADABLE_MESSAGES = 'UnreadableMessages';
/** Messages that a queue gave up after too many receives. */
export const DEAD_LETTERS = 'DeadLetters';
/** Entries of the outbox that no repetition could deal with. */
export const ABANDONED_ENTRIES = 'AbandonedEntries';
/** Endpoints and hours whose ledger is not what their deliveries say. */
export const LEDGER_DIFFERENCE = 'LedgerDifference';
/** What a run of the reconciler did. */
export const RECONCILED = {
  resumed: 'ParkedResumed',
  resent: 'LostResent',
  deferred: 'LateDeferred',
  expired: 'DeliveriesExpired',
  latestSeconds: 'ParkedLatestSeconds',
} as const;
/** What a run of the purge did, and what it left. */
export const PURGED = {
  deleted: 'PurgedRows',
  open: 'PurgesOpen',
  oldestSeconds: 'PurgeOldestSeconds',
} as const;
/** Admins who could not be told: sendings that failed, whose outcome nobody knows, or that nobody was there for. */
export const MAIL = {
  sent: 'MailSent',
  failed: 'MailFailed',
  unknown: 'MailOutcomeUnknown',
  nobody: 'MailWithoutRecipient',
} as const;
/** What a run of the sweep did, and how late the latest source was. */
export const SWEPT = { sent: 'SourcesDue', latestSeconds: 'SourceLatestSeconds' } as const;
/** Checks of sources, and those that brought no content. */
export const CHECKED = { checked: 'SourcesChecked', failed: 'SourceChecksFailed' } as const;
