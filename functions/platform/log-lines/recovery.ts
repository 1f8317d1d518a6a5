import { lines } from './line.ts';

const NEXT_RUN = 'Nothing, unless it continues: the next run, a minute later, retries it.';
const RECONCILER_FIELDS = {
  resumed: 'count',
  resent: 'count',
  deferred: 'count',
  expired: 'count',
  refused: 'count',
  latestSeconds: 'count',
  oldestSeconds: 'count',
  complete: 'flag',
} as const;
const LEDGER_FIELDS = {
  webhookId: 'id',
  generation: 'count',
  hour: 'id',
  ledger: 'counts',
  deliveries: 'counts',
} as const;
const PURGE_FIELDS = { deleted: 'count', closed: 'count', open: 'count', oldestSeconds: 'count' } as const;

/** Reconciler, ledger audit and purge. */
export const RECOVERY_LINES = lines({
  DELIVERIES_RECONCILED: {
    level: 'info',
    message: 'deliveries were reconciled',
    operator:
      'Nothing, unless `resent` stays above 0: then messages get lost. With `deferred` a queue has a backlog.',
    fields: RECONCILER_FIELDS,
  },
  NOTHING_TO_RECONCILE: {
    level: 'debug',
    message: 'no delivery was due for the reconciler',
    operator: 'Nothing.',
    fields: RECONCILER_FIELDS,
  },
  DELIVERY_EXPIRED: {
    level: 'error',
    message: 'a delivery that was still open after 3 days ends as expired',
    operator: 'The customer sees `expired`. Find the cause, and resend it.',
    fields: { deliveryId: 'id' },
  },
  TURN_NEVER_CAME: {
    level: 'info',
    message: 'a delivery waited 3 days for its turn at an endpoint with `maxPerSecond`, and ends as expired',
    operator: 'Nothing: the customer sends more than the endpoint takes.',
    fields: { deliveryId: 'id', webhookId: 'id' },
  },
  EXPIRY_FAILED: {
    level: 'warn',
    message: 'an expired delivery could not be ended; it stays due',
    operator: NEXT_RUN,
    fields: { deliveryId: 'id', error: 'failure' },
  },
  REMINDERS_NOT_SENT: {
    level: 'error',
    message: 'delivery messages could not be sent',
    operator: NEXT_RUN,
    fields: { error: 'failure' },
  },
  DUE_ENTRY_NOT_MOVED: {
    level: 'warn',
    message: 'an entry of the due index could not be moved; it stays due',
    operator: NEXT_RUN,
    fields: { deliveryId: 'id', error: 'failure' },
  },
  DUE_SHARD_UNREAD: {
    level: 'error',
    message: 'a shard of the due index could not be read',
    operator: `${NEXT_RUN} Until then, parked deliveries of that shard are late.`,
    fields: { state: 'words', shard: 'count', error: 'failure' },
  },
  DUE_ROW_UNREADABLE: {
    level: 'error',
    message: 'a due row cannot be parsed and is not processed',
    operator:
      'Read the row by its keys, and repair or delete it: each run fails until then. All other rows are processed.',
    fields: { pk: 'id', sk: 'id', error: 'failure' },
  },
  ROW_UNREADABLE: {
    level: 'error',
    message: 'a stored row cannot be parsed and was left out',
    operator:
      'Read the row by its keys, and repair or delete it: see the runbook. All other rows are processed.',
    fields: { pk: 'id', sk: 'id', error: 'failure' },
  },
  QUEUES_NOT_MEASURED: {
    level: 'warn',
    message: 'the messages of the delivery queues could not be measured',
    operator:
      'Nothing, unless it continues: the metric `InFlightOfLimit` has a gap, and lost messages are resent beside a backlog.',
    fields: { error: 'failure' },
  },
  REMINDER_DEAD: {
    level: 'warn',
    message: 'a delivery message was received too often; the reconciler takes its delivery over',
    operator: 'Find out by its `deliveryId` why the dispatcher could not process it.',
    fields: { deliveryId: 'id', webhookId: 'id' },
  },
  DEAD_REMINDER_STAYS: {
    level: 'error',
    message: 'a dead letter could not be processed and stays in its queue',
    operator: 'Nothing, unless it continues: it is retried.',
    fields: { messageId: 'id', error: 'failure' },
  },
  ENTRIES_NOT_HANDED_OVER: {
    level: 'error',
    message: 'outbox entries that failed could not be sent to their queue; the stream repeats them',
    operator:
      'Nothing, unless it continues: then later events of the shard wait. Check the queue and its key.',
    fields: { entries: 'count', error: 'failure' },
  },
  OUTBOX_LETTER_STAYS: {
    level: 'error',
    message: 'a dead letter of the outbox could not be processed and stays in its queue',
    operator: 'Nothing, unless it continues: it is retried.',
    fields: { messageId: 'id', error: 'failure' },
  },
  OUTBOX_LETTER_UNREADABLE: {
    level: 'error',
    message: 'a dead letter of the outbox cannot be parsed and is dropped',
    operator: 'Another sender writes to the queue, or its form has changed. Its entries are not processed.',
    fields: { messageId: 'id', bytes: 'count', error: 'failure' },
  },
  OUTBOX_ENTRY_UNREADABLE: {
    level: 'error',
    message: 'an outbox entry cannot be parsed and is abandoned',
    operator: 'Read the entry by its `id`: its event is not delivered.',
    fields: { id: 'id', error: 'failure' },
  },
  OUTBOX_ENTRY_GIVEN_UP: {
    level: 'error',
    message: 'an outbox entry that failed for 3 days is abandoned',
    operator: 'Read the entry by its `id`: its event is not delivered.',
    fields: { id: 'id' },
  },
  STREAM_FORGOTTEN: {
    level: 'error',
    message: 'the stream no longer has records that were never processed',
    operator: 'Events of that time may have no deliveries: compare the outbox with them.',
    fields: { streamArn: 'id', shardId: 'id', startSequenceNumber: 'id', endSequenceNumber: 'id' },
  },
  LEDGER_CHECKED: {
    level: 'info',
    message: 'the ledger was checked',
    operator: 'Nothing.',
    fields: { entries: 'count', open: 'count', differing: 'count', complete: 'flag' },
  },
  LEDGER_UNCHECKED: {
    level: 'error',
    message: 'an hour of an endpoint, or a shard of the hour, could not be compared with the ledger',
    operator: `${NEXT_RUN} Each hour is checked four times.`,
    fields: { webhookId: 'id', generation: 'count', hour: 'id', shard: 'count', error: 'failure' },
  },
  LEDGER_DIFFERS: {
    level: 'error',
    message: 'the ledger differs from the deliveries',
    operator: 'The deliveries are right. They were counted wrongly, or another program wrote a delivery.',
    fields: LEDGER_FIELDS,
  },
  LEDGER_CORRECTED: {
    level: 'error',
    message: 'the ledger differed from the deliveries and was corrected',
    operator: 'As for LEDGER_DIFFERS, which is logged before it.',
    fields: LEDGER_FIELDS,
  },
  GENERATION_WIPED: {
    level: 'info',
    message: 'the data of an older sandbox generation is deleted',
    operator: 'Nothing.',
    fields: { orgId: 'id', generation: 'count' },
  },
  PURGE_FAILED: {
    level: 'error',
    message: 'a purge failed; the next run continues it',
    operator: 'Nothing, unless it continues: the data of a reset sandbox stays stored meanwhile.',
    fields: { orgId: 'id', generation: 'count', error: 'failure' },
  },
  ROWS_PURGED: {
    level: 'info',
    message: 'data of older sandbox generations was deleted',
    operator: 'Nothing.',
    fields: PURGE_FIELDS,
  },
  NOTHING_TO_PURGE: {
    level: 'debug',
    message: 'no data of older sandbox generations was left to delete',
    operator: 'Nothing.',
    fields: PURGE_FIELDS,
  },
});
