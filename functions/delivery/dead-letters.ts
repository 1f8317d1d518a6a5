import type { Failure } from '../aws/concurrency.ts';
import { parseCreationTime } from '../aws/ids.ts';
import type { Log } from '../aws/log-codes.ts';
import type { DeadLetter } from '../events/events.ts';
import type { DeliveryMessage } from './delivery.ts';
import type { dueIndex } from './delivery-rows.ts';
import type { outboxEntries } from './outbox.ts';
import type { OutboxWork } from './redelivery.ts';
import { EXPIRY_SECONDS } from './timing.ts';

/**
 * Processes a delivery message that SQS gave up after too many receives: the delivery stays open, and the due
 * index takes it over until it ends or expires.
 */
export function processDeadDeliveryMessage(
  { due, log, now }: { due: Pick<ReturnType<typeof dueIndex>, 'watch'>; log: Log; now: () => Date },
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
  outbox: ReturnType<typeof outboxEntries<T>>;
  /** @returns the entries to retry */
  process(entries: readonly T[]): Promise<T[]>;
  /**
   * Sends entries to the queue again, a letter for each organization.
   * @returns those that it did not take
   */
  handOver(entries: readonly T[]): Promise<Failure<T>[]>;
  getName(entry: T): EntryName;
  log: Log;
  now: () => Date;
}

/** Seconds until a letter is retried: as many as its entries are old, so that a long trouble costs few. */
const RETRY_SECONDS = { least: 5, most: 900 };

/**
 * Processes entries that a reader of the outbox failed on. A letter of keys stays, hidden for a while, until
 * some of its entries succeed: the others are then sent in a letter of their own. So are those of stream
 * records, which last a day. After three days entries are abandoned and counted.
 */
export function processDeadEntries<T>({
  outbox,
  process: processEntries,
  handOver,
  getName,
  log,
  now,
}: DeadEntriesPorts<T>) {
  const getAge = (entry: T): number => (now().getTime() - Date.parse(getName(entry).createdAt)) / 1000;

  return async (deadLetter: DeadLetter): Promise<{ abandoned: number; retryInSeconds?: number }> => {
    const entries =
      deadLetter.kind === 'records'
        ? await outbox.read(deadLetter.records)
        : (await Promise.all(deadLetter.keys.map((key) => outbox.find(key)))).filter(
            (each) => each !== undefined,
          );
    if (entries === undefined) {
      if (deadLetter.kind === 'records') log('STREAM_FORGOTTEN', deadLetter.records);
      return { abandoned: 1 };
    }
    const failed = await processEntries(entries);
    const expired = failed.filter((entry) => getAge(entry) > EXPIRY_SECONDS);
    const open = failed.filter((entry) => !expired.includes(entry));
    const { least, most } = RETRY_SECONDS;
    if (deadLetter.kind === 'entries' && open.length === entries.length && open.length > 0) {
      const youngest = Math.ceil(Math.min(...open.map(getAge)));
      return { abandoned: 0, retryInSeconds: Math.min(Math.max(youngest, least), most) };
    }
    const refused = open.length === 0 ? [] : await handOver(open);
    // The letter is processed again, with those that it has sent, which changes nothing.
    if (refused.length > 0) return { abandoned: 0, retryInSeconds: least };
    for (const entry of expired) log('OUTBOX_ENTRY_GIVEN_UP', { id: getName(entry).id });
    return { abandoned: expired.length };
  };
}

export const getOutboxWorkName = (work: OutboxWork): EntryName =>
  work.kind === 'event'
    ? work.event
    : { id: work.deliveryMessage.id, createdAt: parseCreationTime(work.deliveryMessage.id).toISOString() };
