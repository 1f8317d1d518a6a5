import type { DeliveryRef, Reminder } from '../domain/delivery.ts';
import { EXPIRY_SECONDS } from '../domain/due.ts';
import { creationTime, type IdPrefix } from '../domain/ids.ts';
import type { Owed } from '../domain/redelivery.ts';
import type { Log } from './log.ts';

export interface DeadReminderPorts {
  due: { watch(ref: DeliveryRef, dueAt: Date): Promise<void> };
  log: Log;
  now: () => Date;
}

/**
 * Deals with a reminder that its queue gave up after too many receives. The delivery stays what it is: the due index takes it over,
 * and the reconciler tries again, less and less often, until it ends as expired.
 */
export function deadReminder(
  { due, log, now }: DeadReminderPorts,
  { graceSeconds }: { graceSeconds: number },
) {
  return async (reminder: Reminder): Promise<void> => {
    log.warn('a message was received too often and its delivery is left to the reconciler', {
      deliveryId: reminder.id,
      webhookId: reminder.webhookId,
    });
    await due.watch(reminder, new Date(now().getTime() + graceSeconds * 1000));
  };
}

/** Where in a stream the records are that a stream's mapping gave up. */
export interface DiscardedRecords {
  streamArn: string;
  shardId: string;
  startSequenceNumber: string;
  endSequenceNumber: string;
}

/** What a dead letter of the fan-out names: records of the stream, or entries of the outbox by their keys. */
export type DeadFanOut =
  | { kind: 'records'; records: DiscardedRecords }
  | { kind: 'entries'; ids: readonly string[] };

export interface DeadFanOutPorts {
  /** The entries that the records hold; undefined when the stream has forgotten them, after a day. */
  stream: { read(records: DiscardedRecords): Promise<Owed[] | undefined> };
  /** Undefined when there is no such entry, or it is none that the fan-out deals with. */
  outbox: { find(id: string): Promise<Owed | undefined> };
  /** @returns what has to be tried again */
  fanOut(owed: readonly Owed[]): Promise<Owed[]>;
  /** Leaves entries for later, by their keys, which are good for as long as the outbox keeps them. */
  postpone(ids: readonly string[]): Promise<void>;
  log: Log;
  now: () => Date;
}

/**
 * Deals with what the fan-out failed at until its stream gave up. What fails again is noted by its key, because the stream forgets its records after
 * a day; what cannot be dealt with for days is given up, loudly.
 * @returns the number of entries that were given up
 */
export function deadFanOut({ stream, outbox, fanOut, postpone, log, now }: DeadFanOutPorts) {
  return async (letter: DeadFanOut): Promise<number> => {
    if (letter.kind === 'records') {
      const owed = await stream.read(letter.records);
      if (owed === undefined) {
        log.error('the stream has forgotten records that the fan-out never dealt with', {
          ...letter.records,
        });
        return 1;
      }
      const failed = await fanOut(owed);
      if (failed.length > 0) await postpone(failed.map(idOf));
      return 0;
    }
    const found = await Promise.all(letter.ids.map((id) => outbox.find(id)));
    const failed = await fanOut(found.flatMap((owed) => owed ?? []));
    const expired = failed.filter((owed) => isExpired(idOf(owed), now()));
    for (const owed of expired)
      log.error('an entry of the outbox is given up because nothing could be done for it in days', {
        id: idOf(owed),
      });
    const again = failed.filter((owed) => !expired.includes(owed));
    if (again.length > 0) await postpone(again.map(idOf));
    return expired.length;
  };
}

const idOf = (owed: Owed): `${IdPrefix}_${string}` =>
  owed.kind === 'event' ? owed.event.id : owed.reminder.id;

const isExpired = (id: `${IdPrefix}_${string}`, now: Date): boolean =>
  now.getTime() - creationTime(id).getTime() > EXPIRY_SECONDS * 1000;
