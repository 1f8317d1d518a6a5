import type { DeliveryMessage } from '../domain/delivery.ts';
import { type DueRef, EXPIRY_SECONDS } from '../domain/due.ts';
import type { DeadLetter, DiscardedRecords, EntryKey } from '../domain/events.ts';
import { parseCreationTime } from '../domain/ids.ts';
import type { OutboxWork } from '../domain/redelivery.ts';
import type { Log } from '../platform/log-codes.ts';

export interface DeadDeliveryMessagePorts {
  due: { watch(ref: DueRef, dueAt: Date): Promise<void> };
  log: Log;
  now: () => Date;
}

/**
 * Processes a delivery message that SQS gave up after too many receives: the delivery stays open, and the due
 * index takes it over until it ends or expires.
 */
export function processDeadDeliveryMessage(
  { due, log, now }: DeadDeliveryMessagePorts,
  { graceSeconds }: { graceSeconds: number },
) {
  return async (deliveryMessage: DeliveryMessage): Promise<void> => {
    log('REMINDER_DEAD', {
      deliveryId: deliveryMessage.id,
      webhookId: deliveryMessage.webhookId,
      traceId: deliveryMessage.traceId,
    });
    await due.watch(deliveryMessage, new Date(now().getTime() + graceSeconds * 1000));
  };
}

/** What the log calls an outbox entry, and its creation time. */
export interface EntryName {
  id: string;
  createdAt: string;
}

/** @typeParam T an entry as its reader parses it */
export interface DeadEntriesPorts<T> {
  /** Entries of the records; undefined when the stream no longer has them, after a day. */
  stream: { read(records: DiscardedRecords): Promise<T[] | undefined> };
  /** Undefined when there is no such entry, or this reader does not process it. */
  outbox: { find(key: EntryKey): Promise<T | undefined> };
  /** @returns the entries to retry */
  process(entries: readonly T[]): Promise<T[]>;
  /** Leaves entries for later. */
  postpone(keys: readonly EntryKey[]): Promise<void>;
  getKey(entry: T): EntryKey;
  getName(entry: T): EntryName;
  log: Log;
  now: () => Date;
}

/**
 * Processes entries that a reader of the outbox failed on until its stream gave up. Entries that fail again
 * are postponed by key, because stream records last a day; after three days they are abandoned and counted.
 * @returns the number of abandoned entries
 */
export function processDeadEntries<T>({
  stream,
  outbox,
  process: processEntries,
  postpone,
  getKey,
  getName,
  log,
  now,
}: DeadEntriesPorts<T>) {
  const isExpired = (entry: T): boolean =>
    now().getTime() - Date.parse(getName(entry).createdAt) > EXPIRY_SECONDS * 1000;

  return async (deadLetter: DeadLetter): Promise<number> => {
    if (deadLetter.kind === 'records') {
      const entries = await stream.read(deadLetter.records);
      if (entries === undefined) {
        log('STREAM_FORGOTTEN', deadLetter.records);
        return 1;
      }
      const failed = await processEntries(entries);
      if (failed.length > 0) await postpone(failed.map(getKey));
      return 0;
    }
    const found = await Promise.all(deadLetter.keys.map((key) => outbox.find(key)));
    const failed = await processEntries(found.filter((entry) => entry !== undefined));
    const expired = failed.filter(isExpired);
    for (const entry of expired) log('OUTBOX_ENTRY_GIVEN_UP', { id: getName(entry).id });
    const toRetry = failed.filter((entry) => !expired.includes(entry));
    if (toRetry.length > 0) await postpone(toRetry.map(getKey));
    return expired.length;
  };
}

export const getOutboxWorkName = (work: OutboxWork): EntryName =>
  work.kind === 'event'
    ? work.event
    : { id: work.reminder.id, createdAt: parseCreationTime(work.reminder.id).toISOString() };
