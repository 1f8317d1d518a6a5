type Level = 'debug' | 'info' | 'warn' | 'error';

/**
 * Kinds of fields. There is no free text: `words` are fixed text or a dependency's code, and a `failure` is
 * reduced by `logger.ts`.
 */
interface FieldKinds {
  /** A name made by the service or AWS: an id, a time, an ARN. */
  id: string;
  words: string;
  count: number;
  counts: Readonly<Record<string, number>>;
  flag: boolean;
  failure: unknown;
}
export type FieldKind = keyof FieldKinds;

export interface Line {
  readonly level: Level;
  /** Its meaning: the line's `message`. */
  readonly message: string;
  /** What an operator does. */
  readonly operator: string;
  readonly fields: Readonly<Record<string, FieldKind>>;
}

const define =
  (level: Level) =>
  <const F extends Line['fields']>(message: string, fields: F, operator: string = 'Nothing.') => ({ level, message, operator, fields });
const debug = define('debug');
const info = define('info');
const warn = define('warn');
const error = define('error');

const RETRIED = 'Nothing, unless it continues: the message is retried, and ends as a dead letter.';
const NEXT_RUN = 'Nothing, unless it continues: the next run retries it.';
const DEFECT = 'A defect, or rows of a version that this one cannot read.';

const ATTEMPT = { deliveryId: 'id', webhookId: 'id', orgId: 'id', attempt: 'count', status: 'count' } as const;
const LEDGER = { webhookId: 'id', generation: 'count', hour: 'id', ledger: 'counts', deliveries: 'counts' } as const;
const BUS = { eventId: 'id', type: 'words', error: 'failure' } as const;
const JOB = { redeliveryId: 'id', webhookId: 'id', orgId: 'id' } as const;
const JOB_END = { ...JOB, examined: 'count', redelivered: 'count' } as const;
const EVENT = { eventId: 'id', type: 'words', orgId: 'id' } as const;
const MAIL = { eventId: 'id', orgId: 'id', recipients: 'count' } as const;

/**
 * All log lines by code: meaning, fields, and what an operator does. There is no other way to log.
 * `docs/reference/logs.md` is generated from it.
 */
export const LOG_CODES = {
  // Requests and sign-in
  REQUEST_ANSWERED: debug('a request was answered', { status: 'count' }),
  REQUEST_FAILED: error('the request failed', { error: 'failure' }, 'A defect: the caller got 500. Find the place by the error and its frames.'),
  DEPENDENCY_UNAVAILABLE: error('a dependency is unavailable', { error: 'failure' }, "The caller got 503. Nothing, unless it continues: the caller retries. Then check the throttles and AWS's health page."),
  RATE_LIMITER_FAILED: warn('the rate limiter failed, the request passes', { error: 'failure' }, 'Requests are not limited meanwhile: check the table of the rate windows.'),
  KEY_USE_NOT_NOTED: warn('the use of an API key could not be recorded, the request passes', { error: 'failure' }, 'The last use shown is some minutes too early. If it continues, check the table of the rate windows.'),
  CALLER_NOT_LIVE: warn('a live key or a session names an organization that does not exist or is not live', { orgId: 'id' }, 'A key or a claim of the user pool is wrong: it was refused with 401. Find out who made it.'),
  SANDBOX_KEY_REFUSED: warn('a sandbox key is refused: its pairing is invalid', { keyId: 'id', liveOrgId: 'id', why: 'words' }, 'The rows of the pairing contradict each other: compare the two organizations.'),
  SIGNED_IN: info('a user signed in to the dashboard', { userId: 'id', orgId: 'id' }),
  SIGN_IN_REFUSED: info(
    'a sign-in to the dashboard or the renewal of a session was refused',
    { why: 'words', status: 'count' },
    'Nothing when it is rare: the user took too long, or used a link of another user. If no user can sign in, compare the client, its URLs and scopes at the issuer with the deployment’s context; the issuer reports the reason.',
  ),
  SESSION_TOO_LARGE: warn('a token of the issuer is too large for a cookie', { cookie: 'id', bytes: 'count' }, 'The user cannot sign in, or must sign in whenever the session ends: configure fewer claims at the issuer.'),
  REVOCATION_FAILED: warn('a refresh token could not be revoked when its owner signed out', { error: 'failure', status: 'count' }, 'The cookie is removed anyway. If it continues, check the revocation endpoint of the issuer.'),
  ORGANIZATION_ENROLLED: info('an organization was created', { orgId: 'id', keyId: 'id' }, 'Nothing: an operator asked for it.'),
  INVOCATION_FAILED: error('the invocation failed as a whole', { error: 'failure' }, 'It is retried. If it continues, find the place by the error and its frames.'),

  // Fan-out, dispatcher and delivery stream
  EVENT_FANNED_OUT: debug('the deliveries of an event were created', { eventId: 'id', orgId: 'id', deliveryMessages: 'count' }),
  FAN_OUT_FAILED: error('an outbox entry could not be processed and is retried', { eventId: 'id', deliveryId: 'id', error: 'failure' }, 'Nothing, unless it continues: a function of its own retries the entry, for three days.'),
  REMINDER_REFUSED: error('a queue did not take a delivery message; the outbox entry is retried', { eventId: 'id', deliveryId: 'id', error: 'failure' }, 'Nothing, unless it continues: then check the queue and its key.'),
  ATTEMPT_SUCCEEDED: debug('an attempt succeeded', ATTEMPT),
  ATTEMPT_FAILED: info('an attempt failed', { ...ATTEMPT, outcome: 'words', reason: 'words' }, 'Nothing: `outcome` says whether the delivery is retried or has ended, `reason` is what the customer reads. If one `webhookId` has many, see the runbook endpoint-storm.md.'),
  ATTEMPT_OUTLIVED: info('an attempt ended after its lease; another worker decides on the delivery', { ...ATTEMPT, reason: 'words' }, 'Nothing, unless there are many: then attempts take longer than the configured timeout.'),
  DELIVERY_LEFT: error('a delivery could not be processed; its message stays in the queue', { deliveryId: 'id', error: 'failure' }, RETRIED),
  BATCH_READ_REFUSED: warn('the read of a batch was refused; its rows are read one by one', { error: 'failure' }, 'Nothing, unless it continues: then find the row that `DELIVERY_LEFT` names.'),
  EVENT_MISSING: error('a delivery ends because its event is gone', { deliveryId: 'id', eventId: 'id' }, 'The customer sees `event_missing`. Find out what deleted the event: nothing deletes it before its expiry.'),
  ENDPOINT_DISABLED: warn('an endpoint was disabled after consecutive failures', { webhookId: 'id', orgId: 'id' }, 'Nothing: its admins get an e-mail. Many at once: check whether the service is at fault.'),
  SLOW_NOT_MARKED: warn('a slow endpoint could not be marked', { webhookId: 'id', error: 'failure' }, 'Nothing: the next slow attempt marks it.'),
  STALL_NOT_NOTED: warn('a stalled endpoint could not be marked, or its mark not be removed', { webhookId: 'id', error: 'failure' }, 'Nothing: the next attempt retries it.'),
  REMINDER_UNREADABLE: error('a queue message is not a delivery message and is dropped', { messageId: 'id', error: 'failure' }, `${DEFECT} The reconciler resends it if its delivery is open.`),
  DELIVERIES_WATCHED: debug('open deliveries were added to the due index', { count: 'count' }),
  DELIVERY_UNREADABLE: error('a stream record is not a delivery and is not counted', { sequence: 'id', error: 'failure' }, `${DEFECT} The ledger audit corrects the counts; check the delivery.`),
  TENANT_UNKNOWN: error('deliveries of an unknown tenant are not counted', { orgId: 'id', error: 'failure' }, 'Rows of an organization contradict each other: check the organization and its generation.'),
  STREAM_RECORD_UNREADABLE: error('a stream record is not an outbox entry and is abandoned', { sequence: 'id', error: 'failure' }, `${DEFECT} Its event is not delivered: find the entry by its position in the stream.`),

  // Reconciler, dead letters, ledger audit and purge
  DELIVERIES_RECONCILED: info(
    'deliveries were reconciled',
    { resumed: 'count', resent: 'count', deferred: 'count', expired: 'count', refused: 'count', latestSeconds: 'count', oldestSeconds: 'count', complete: 'flag' },
    'Nothing, unless `resent` stays above 0: then messages get lost. With `deferred` a queue has a backlog.',
  ),
  DELIVERY_EXPIRED: error('a delivery that was still open after 3 days ends as expired', { deliveryId: 'id' }, 'The customer sees `expired`. Find the cause, and resend it.'),
  TURN_NEVER_CAME: info('a delivery waited 3 days for its turn at an endpoint with `maxPerSecond`, and ends as expired', { deliveryId: 'id', webhookId: 'id' }, 'Nothing: the customer sends more than the endpoint takes.'),
  EXPIRY_FAILED: warn('an expired delivery could not be ended; it stays due', { deliveryId: 'id', error: 'failure' }, NEXT_RUN),
  REMINDERS_NOT_SENT: error('delivery messages could not be sent', { error: 'failure' }, NEXT_RUN),
  DUE_ENTRY_NOT_MOVED: warn('an entry of the due index could not be moved; it stays due', { deliveryId: 'id', error: 'failure' }, NEXT_RUN),
  DUE_SHARD_UNREAD: error('a shard of the due index could not be read', { state: 'words', shard: 'count', error: 'failure' }, `${NEXT_RUN} Until then, parked deliveries of that shard are late.`),
  DUE_ROW_UNREADABLE: error('a due row cannot be parsed and is not processed', { pk: 'id', sk: 'id', error: 'failure' }, 'Read the row by its keys, and repair or delete it: each run fails until then. All other rows are processed.'),
  ROW_UNREADABLE: error('a stored row cannot be parsed and was left out', { pk: 'id', sk: 'id', error: 'failure' }, 'Read the row by its keys, and repair or delete it: see the runbook. All other rows are processed.'),
  QUEUES_NOT_MEASURED: warn('the messages of the delivery queues could not be measured', { error: 'failure' }, 'Nothing, unless it continues: the metric `InFlightOfLimit` has a gap, and lost messages are resent beside a backlog.'),
  REMINDER_DEAD: warn('a delivery message was received too often; the reconciler takes its delivery over', { deliveryId: 'id', webhookId: 'id' }, 'Find out by its `deliveryId` why the dispatcher could not process it.'),
  DEAD_REMINDER_STAYS: error('a dead letter could not be processed and stays in its queue', { messageId: 'id', error: 'failure' }, 'Nothing, unless it continues: it is retried.'),
  ENTRIES_NOT_HANDED_OVER: error('outbox entries that failed could not be sent to their queue; the stream repeats them', { entries: 'count', error: 'failure' }, 'Nothing, unless it continues: then later events of the shard wait. Check the queue and its key.'),
  OUTBOX_LETTER_STAYS: error('a dead letter of the outbox could not be processed and stays in its queue', { messageId: 'id', error: 'failure' }, 'Nothing, unless it continues: it is retried.'),
  OUTBOX_LETTER_UNREADABLE: error('a dead letter of the outbox cannot be parsed and is dropped', { messageId: 'id', bytes: 'count', error: 'failure' }, 'Another sender writes to the queue, or its form has changed. Its entries are not processed.'),
  OUTBOX_ENTRY_UNREADABLE: error('an outbox entry cannot be parsed and is abandoned', { id: 'id', error: 'failure' }, 'Read the entry by its `id`: its event is not delivered.'),
  OUTBOX_ENTRY_GIVEN_UP: error('an outbox entry that failed for 3 days is abandoned', { id: 'id' }, 'Read the entry by its `id`: its event is not delivered.'),
  STREAM_FORGOTTEN: error('the stream no longer has records that were never processed', { streamArn: 'id', shardId: 'id', startSequenceNumber: 'id', endSequenceNumber: 'id' }, 'Events of that time may have no deliveries: compare the outbox with them.'),
  LEDGER_CHECKED: info('the ledger was checked', { entries: 'count', open: 'count', differing: 'count', complete: 'flag' }),
  LEDGER_UNCHECKED: error('an hour of an endpoint, or a shard of the hour, could not be compared with the ledger', { webhookId: 'id', generation: 'count', hour: 'id', shard: 'count', error: 'failure' }, `${NEXT_RUN} Each hour is checked four times.`),
  LEDGER_DIFFERS: error('the ledger differs from the deliveries', LEDGER, 'The deliveries are right. They were counted wrongly, or another program wrote a delivery.'),
  LEDGER_CORRECTED: error('the ledger differed from the deliveries and was corrected', LEDGER, 'As for LEDGER_DIFFERS, which is logged before it.'),
  GENERATION_WIPED: info('the data of an older sandbox generation is deleted', { orgId: 'id', generation: 'count' }),
  CONVERSATIONS_ERASED: info('everything that belonged to erased conversations is deleted', { orgId: 'id', erasureId: 'id' }),
  RETENTION_FAILED: error('conversations whose time is over were not erased; the next run continues', { orgId: 'id', error: 'failure' }, 'Nothing, unless it continues: conversations are kept for longer than `retentionDays`.'),
  PURGE_FAILED: error('a purge failed; the next run continues it', { orgId: 'id', generation: 'count', error: 'failure' }, 'Nothing, unless it continues: the data of a reset sandbox or of erased conversations stays stored meanwhile.'),
  ROWS_PURGED: info('data of older sandbox generations and of erased conversations was deleted', { deleted: 'count', closed: 'count', open: 'count', oldestSeconds: 'count' }),

  // Workers behind the bus: usage, sources, redelivery jobs, e-mail
  BUS_REFUSED: warn('the bus did not take entries, which are retried', { reason: 'words', error: 'failure' }, 'Nothing, unless it continues: then usage, source checks and e-mail are late.'),
  BUS_ENTRY_GIVEN_UP: error('an outbox entry is abandoned because the bus refuses it permanently, mostly for its size', { id: 'id', type: 'words', orgId: 'id', bytes: 'count', error: 'failure' }, 'Read the entry by its `id`: it is not metered or mailed. Reduce the bus fields of its type.'),
  BUS_EVENT_UNREADABLE: error('a message is not a bus event', { messageId: 'id', error: 'failure' }, 'It becomes a dead letter: read it there. Another sender puts events on the bus, or their form has changed.'),
  BUS_EVENT_FAILED: error('a bus event could not be processed and is retried', BUS, RETRIED),
  BUS_EVENT_WAITS: info('a bus event waits for another worker and is retried', BUS, RETRIED),
  MESSAGE_NOT_HIDDEN: warn('the visibility timeout of a message could not be set; it is retried after that of its queue', { eventId: 'id', error: 'failure' }, RETRIED),
  USAGE_NOT_COUNTED: error('events of an organization could not be counted and are retried', { orgId: 'id', events: 'count', error: 'failure' }, RETRIED),
  USAGE_CONTENDED: error('events of an organization were not counted because of contention and are retried', { orgId: 'id', events: 'count' }, RETRIED),
  SOURCES_SWEPT: info('sources were due', { sent: 'count', left: 'count', latestSeconds: 'count', complete: 'flag' }, 'Nothing, unless `left` or `latestSeconds` grows: then checks are late.'),
  CHECKS_NOT_SENT: error('messages of source checks could not be sent', { error: 'failure' }, NEXT_RUN),
  SOURCE_NOT_MOVED: warn('the due time of a source could not be moved; it becomes due again', { sourceId: 'id', error: 'failure' }, NEXT_RUN),
  SOURCE_SHARD_UNREAD: error('a shard of the due sources could not be read', { shard: 'count', error: 'failure' }, `${NEXT_RUN} Then checks of the sources of that shard are late.`),
  VERSION_TEXT_MISSING: error('the text of a version is missing, the next one is not compared', { sourceId: 'id', version: 'count' }, 'Admins are not notified of one change. Find out what deleted the text: nothing deletes a text in use.'),
  EXTRACTION_ENDED: warn('the content of a source ended its extraction: it took too long, or too much memory', { orgId: 'id', reason: 'words' }, 'Nothing: the source shows it. Many at once, of several organizations: a parser has become slow.'),
  CHECK_TOO_LATE: warn('a check was too late: its source is gone, or another check has the lease', { sourceId: 'id' }, 'Nothing, unless there are many: then checks take longer than their lease.'),
  CHECK_POSTPONED: info('a check waited too long for a slot of its organization; its source becomes due again', { sourceId: 'id', orgId: 'id' }, 'Nothing: the organization uses all its slots. Other organizations’ checks run.'),
  REDELIVERY_ENDED: info('a redelivery job has ended', { ...JOB_END, status: 'words', reason: 'words' }, 'Nothing. `reason` says why it ended early.'),
  REDELIVERY_STOPPED: info('a redelivery job was stopped by its owner while a worker ran it', JOB_END),
  REDELIVERY_TAKEN_OVER: warn('another worker has the lease of a redelivery job, or the job is gone, before its page was complete', JOB, 'Nothing, unless there are many: then pages take longer than their lease.'),
  REDELIVERY_RESUMED: warn('no worker ran a redelivery job, and its message was resent', { ...JOB, round: 'count' }, 'Nothing, unless it continues for the same job: then its messages become dead letters, or very many jobs wait.'),
  REDELIVERY_NOT_LOOKED_AT: error('a redelivery job could not be checked, or the result not be recorded', { ...JOB, error: 'failure' }, NEXT_RUN),
  REDELIVERIES_NOT_SENT: error('messages of redelivery jobs could not be sent', { error: 'failure' }, NEXT_RUN),
  REDELIVERY_SHARD_UNREAD: error('a shard of the running redelivery jobs could not be read', { shard: 'count', error: 'failure' }, `${NEXT_RUN} Until then, jobs of that shard with a lost message do not continue.`),
  REDELIVERIES_LOOKED_AT: info('long-running redelivery jobs were checked', { sent: 'count', removed: 'count', held: 'count', left: 'count', complete: 'flag' }, 'Nothing, unless `left` stays above 0.'),
  ADMINS_TOLD: info('admins were notified', MAIL),
  ADMINS_TOLD_BEFORE: info('admins were notified of this recently', EVENT),
  MAIL_OVER_BUDGET: info('the organization’s budget for such e-mails is used up for the day: only the dashboard shows it', EVENT),
  MAIL_CEILING_REACHED: warn('the budget of all organizations for e-mails about content changes is used up for the day', EVENT, 'See the runbook: only the dashboard shows the change.'),
  SANDBOX_UNTOLD: debug('no e-mail is sent for a sandbox', EVENT),
  NEWS_OUTDATED: info('a notification is obsolete', EVENT),
  ADDRESSES_UNFIT: warn('addresses of admins are invalid', { ...EVENT, unfit: 'count' }, 'Correct the addresses of that organization in the user pool.'),
  NO_ADMIN: warn('the organization has no admin to notify', EVENT, 'The organization has no admin in the user pool: contact it.'),
  MAIL_REFUSED: warn('an e-mail was refused', { ...MAIL, reason: 'words' }, `${RETRIED} Check the account's sending limits and suppression list in SES.`),
  MAIL_NOT_RECORDED: warn('a sent e-mail could not be recorded', { ...MAIL, error: 'failure' }, 'Nothing: its claim prevents a second one.'),
  MAIL_OUTCOME_UNKNOWN: error('the outcome of an e-mail is unknown', { ...MAIL, reason: 'words' }, 'It is not retried. Look it up in SES, and notify the admins if it is not there.'),
  MAIL_ABANDONED: error('a worker claimed an e-mail and was lost; the outcome is unknown', MAIL, 'As for MAIL_OUTCOME_UNKNOWN.'),
} as const satisfies Record<string, Line>;
export type LogCode = keyof typeof LOG_CODES;

/** Fields of any line, set for an invocation or a part of it. */
export const CONTEXT_FIELDS = {
  /** Trace of the API call that caused it: the root of `X-Amzn-Trace-Id`, or the request id. */
  traceId: 'id',
  requestId: 'id',
  route: 'id',
  orgId: 'id',
  keyId: 'id',
  userId: 'id',
  conversationId: 'id',
} as const satisfies Record<string, FieldKind>;

type Of<Fields extends Readonly<Record<string, FieldKind>>> = {
  readonly [F in keyof Fields]?: FieldKinds[Fields[F]] | undefined;
};
export type ContextFields = Of<typeof CONTEXT_FIELDS>;
type LogFields<C extends LogCode> = Of<(typeof LOG_CODES)[C]['fields']> & Pick<ContextFields, 'traceId'>;

/** Logs a line. Undeclared fields do not compile and are not written. */
export type Log = <C extends LogCode>(code: C, fields: LogFields<C>) => void;
