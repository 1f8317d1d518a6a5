import { lines } from './line.ts';

const NEXT_RUN = 'Nothing, unless it goes on: the next run, a minute later, finds it.';
const RECONCILED = {
  resumed: 'count',
  resent: 'count',
  deferred: 'count',
  expired: 'count',
  refused: 'count',
  latestSeconds: 'count',
  oldestSeconds: 'count',
  complete: 'flag',
} as const;
const LEDGER = {
  webhookId: 'id',
  generation: 'count',
  hour: 'id',
  ledger: 'counts',
  deliveries: 'counts',
} as const;
const PURGED = { deleted: 'count', closed: 'count', open: 'count', oldestSeconds: 'count' } as const;

/** Reconciler, ledger audit and purge. */
export const RECOVERY_LINES = lines({
  DELIVERIES_RECONCILED: {
    level: 'info',
    says: 'deliveries were reconciled',
    operator:
      'Nothing, unless `resent` goes on: then messages get lost. With `deferred` a queue has a backlog.',
    fields: RECONCILED,
  },
  NOTHING_TO_RECONCILE: {
    level: 'debug',
    says: 'no delivery was to be reconciled',
    operator: 'Nothing.',
    fields: RECONCILED,
  },
  DELIVERY_EXPIRED: {
    level: 'error',
    says: 'a delivery ends because nothing could be done for it in days',
    operator: 'The customer sees `expired`. Find out what kept it, and send it again.',
    fields: { deliveryId: 'id' },
  },
  EXPIRY_FAILED: {
    level: 'warn',
    says: 'an expired delivery could not be ended and will come up again',
    operator: NEXT_RUN,
    fields: { deliveryId: 'id', error: 'failure' },
  },
  REMINDERS_NOT_SENT: {
    level: 'error',
    says: 'reminders could not be sent and are left to the next run',
    operator: NEXT_RUN,
    fields: { error: 'failure' },
  },
  DUE_ENTRY_NOT_MOVED: {
    level: 'warn',
    says: 'an entry of the due index could not be moved on and will come up again',
    operator: NEXT_RUN,
    fields: { deliveryId: 'id', error: 'failure' },
  },
  DUE_SHARD_UNREAD: {
    level: 'error',
    says: 'a shard of the due index could not be read',
    operator: `${NEXT_RUN} Then parked deliveries of that shard are late.`,
    fields: { state: 'words', shard: 'count', error: 'failure' },
  },
  DUE_ROW_UNREADABLE: {
    level: 'error',
    says: 'a row that is due cannot be read, and nothing is done for it',
    operator:
      'Read the row by its keys: until it is mended or deleted, each run says so and fails. All others are dealt with.',
    fields: { pk: 'id', sk: 'id', error: 'failure' },
  },
  ROW_UNREADABLE: {
    level: 'error',
    says: 'a stored row cannot be read and was left out of what was read with it',
    operator:
      'Read the row by its keys and mend or delete it: see the runbook. All other rows are processed.',
    fields: { pk: 'id', sk: 'id', error: 'failure' },
  },
  QUEUES_NOT_MEASURED: {
    level: 'warn',
    says: 'the delivery queues did not say how many messages are in flight',
    operator: 'Nothing, unless it goes on: the metric of the messages in flight has a gap.',
    fields: { error: 'failure' },
  },
  REMINDER_DEAD: {
    level: 'warn',
    says: 'a message was received too often and its delivery is left to the reconciler',
    operator: 'Find out by its `deliveryId` what kept the dispatcher from dealing with it.',
    fields: { deliveryId: 'id', webhookId: 'id' },
  },
  DEAD_REMINDER_STAYS: {
    level: 'error',
    says: 'a dead letter could not be dealt with and stays',
    operator: 'Nothing, unless it goes on: it comes again.',
    fields: { messageId: 'id', error: 'failure' },
  },
  OUTBOX_LETTER_STAYS: {
    level: 'error',
    says: 'a dead letter of the outbox stays',
    operator: 'Nothing, unless it goes on: it comes again.',
    fields: { messageId: 'id', error: 'failure' },
  },
  OUTBOX_LETTER_UNREADABLE: {
    level: 'error',
    says: 'a dead letter of the outbox is not understood and given up',
    operator:
      'Somebody else writes to the queue, or its form has changed. What the letter named is not dealt with.',
    fields: { messageId: 'id', bytes: 'count', error: 'failure' },
  },
  OUTBOX_ENTRY_UNREADABLE: {
    level: 'error',
    says: 'an entry of the outbox cannot be read and is given up',
    operator: 'Read the entry by its `id`: what it owed is not delivered.',
    fields: { id: 'id', error: 'failure' },
  },
  OUTBOX_ENTRY_GIVEN_UP: {
    level: 'error',
    says: 'an entry of the outbox is given up because nothing could be done for it in days',
    operator: 'Read the entry by its `id`: what it owed is not delivered.',
    fields: { id: 'id' },
  },
  STREAM_FORGOTTEN: {
    level: 'error',
    says: 'the stream has forgotten records that were never dealt with',
    operator: 'Events of that time may have no deliveries: compare the outbox with them.',
    fields: { streamArn: 'id', shardId: 'id', startSequenceNumber: 'id', endSequenceNumber: 'id' },
  },
  LEDGER_CHECKED: {
    level: 'info',
    says: 'the ledger was checked',
    operator: 'Nothing.',
    fields: { entries: 'count', open: 'count', differing: 'count', complete: 'flag' },
  },
  LEDGER_DIFFERS: {
    level: 'error',
    says: 'the ledger differs from the deliveries',
    operator:
      'The deliveries are the truth. What differs was counted wrongly, or a delivery was written by somebody else.',
    fields: LEDGER,
  },
  LEDGER_CORRECTED: {
    level: 'error',
    says: 'the ledger differs from the deliveries and is put right',
    operator: 'As LEDGER_DIFFERS, which came before it.',
    fields: LEDGER,
  },
  GENERATION_WIPED: {
    level: 'info',
    says: 'a wiped generation of a sandbox is gone',
    operator: 'Nothing.',
    fields: { orgId: 'id', generation: 'count' },
  },
  PURGE_FAILED: {
    level: 'error',
    says: 'a purge could not go on and is left to the next run',
    operator: 'Nothing, unless it goes on: what a reset wiped stays stored meanwhile.',
    fields: { orgId: 'id', generation: 'count', error: 'failure' },
  },
  ROWS_PURGED: {
    level: 'info',
    says: 'wiped data of sandboxes was deleted',
    operator: 'Nothing.',
    fields: PURGED,
  },
  NOTHING_TO_PURGE: {
    level: 'debug',
    says: 'no wiped data of sandboxes was left to delete',
    operator: 'Nothing.',
    fields: PURGED,
  },
});
