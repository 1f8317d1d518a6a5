import type { DeliveryMessage, DeliveryRef } from '../domain/delivery.ts';
import { EXPIRY_SECONDS } from '../domain/due.ts';
import type { DeadLetter, DiscardedRecords } from '../domain/events.ts';
import { parseCreationTime } from '../domain/ids.ts';
import type { OutboxWork } from '../domain/redelivery.ts';
import type { Log } from '../platform/log-codes.ts';

export interface DeadDeliveryMessagePorts {
  due: { watch(ref: DeliveryRef, dueAt: Date): Promise<void> };
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

/** Key of an outbox entry, and its creation time, which the key need not contain. */
export interface EntryName {
  id: string;
  createdAt: string;
}

/** @typeParam T an entry as its reader parses it */
export interface DeadEntriesPorts<T> {
  /** The entries that the records hold; undefined when the stream has forgotten them, after a day. */
  stream: { read(records: DiscardedRecords): Promise<T[] | undefined> };
  /** Undefined when there is no such entry, or it is none for this reader. */
  outbox: { find(id: string): Promise<T | undefined> };
  /** @returns what has to be tried again */
  process(entries: readonly T[]): Promise<T[]>;
  /** Leaves entries for later, by their keys, which are good for as long as the outbox keeps them. */
  postpone(ids: readonly string[]): Promise<void>;
  nameOf(entry: T): EntryName;
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
  process: deal,
  postpone,
  nameOf,
  log,
  now,
}: DeadEntriesPorts<T>) {
  const idOf = (entry: T): string => nameOf(entry).id;
  const isExpired = (entry: T): boolean =>
    now().getTime() - Date.parse(nameOf(entry).createdAt) > EXPIRY_SECONDS * 1000;

  return async (letter: DeadLetter): Promise<number> => {
    if (letter.kind === 'records') {
      const entries = await stream.read(letter.records);
      if (entries === undefined) {
        log('STREAM_FORGOTTEN', letter.records);
        return 1;
      }
      const failed = await deal(entries);
      if (failed.length > 0) await postpone(failed.map(idOf));
      return 0;
    }
    const found = await Promise.all(letter.ids.map((id) => outbox.find(id)));
    const failed = await deal(found.filter((entry) => entry !== undefined));
    const expired = failed.filter(isExpired);
    for (const entry of expired) log('OUTBOX_ENTRY_GIVEN_UP', { id: idOf(entry) });
    const again = failed.filter((entry) => !expired.includes(entry));
    if (again.length > 0) await postpone(again.map(idOf));
    return expired.length;
  };
}

export const getOutboxWorkName = (owed: OutboxWork): EntryName =>
  owed.kind === 'event'
    ? owed.event
    : { id: owed.reminder.id, createdAt: parseCreationTime(owed.reminder.id).toISOString() };
