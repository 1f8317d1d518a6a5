import type { BusEvent } from '../domain/bus.ts';
import { buildDigestEvent, DIGEST_RESEND_SECONDS, type DueDigest } from '../domain/mailing.ts';
import { RESEND_SECONDS, type SourceRef } from '../domain/source.ts';
import { buildDueEvent } from '../domain/source-check.ts';
import type { Log } from '../platform/log-codes.ts';
import { mapConcurrently } from './concurrency.ts';
import { type DuePage, type Position, readPages, reportUnreadableRow, scanShards } from './due-pages.ts';

type DueSource = SourceRef & { dueAt: string };

export interface ScheduleSourceChecksPorts {
  due: {
    find(shard: number, until: Date, after?: Position): Promise<DuePage<DueSource>>;
    /** Does nothing when the entry was moved meanwhile. */
    postpone(entry: DueSource, until: Date): Promise<void>;
  };
  checks: {
    /** @returns the events that the queue did not take */
    send(events: readonly BusEvent[]): Promise<BusEvent[]>;
  };
  log: Log;
  now: () => Date;
}

/** What a run did. */
export interface ScheduleResult {
  /** Sources whose message was sent. */
  sent: number;
  /** What the queue did not take, and what was not moved on; the next run finds it. */
  left: number;
  /** How late the latest of them was. */
  latestSeconds: number;
  /** Whether everything due was dealt with; the next run goes on otherwise. */
  complete: boolean;
}

/** Shards read at once, and batches of one of their pages under way at once. */
const SHARDS_AT_ONCE = 8;
const BATCHES_AT_ONCE = 2;
/** How many messages SQS takes in a request. */
const SEND = 10;

/**
 * Sends a message for every source that is due, then moves its time on, so that one whose message gets lost
 * comes again. It reads nothing but what is due. A run may end or crash anywhere: what it has not moved on is
 * found by the next, and a message too many changes nothing.
 */
export function scheduleSourceChecks(
  { due, checks, log, now }: ScheduleSourceChecksPorts,
  { shards }: { shards: number },
) {
  /**
   * @param goOn whether there is time for another page
   * @throws what kept a part of the index from being read, after the rest was dealt with
   */
  return async (goOn: () => boolean): Promise<ScheduleResult> => {
    const done: ScheduleResult = { sent: 0, left: 0, latestSeconds: 0, complete: true };
    const failures: unknown[] = [];

    /** @returns the entries whose messages were taken */
    async function send(batch: readonly DueSource[]): Promise<DueSource[]> {
      const events = new Map(batch.map((entry) => [entry, buildDueEvent(entry, now())]));
      try {
        const refused = new Set((await checks.send([...events.values()])).map(({ id }) => id));
        return batch.filter((entry) => !refused.has(events.get(entry)?.id ?? ''));
      } catch (error) {
        log('CHECKS_NOT_SENT', { error });
        return [];
      }
    }

    async function moveOn(entry: DueSource): Promise<boolean> {
      try {
        await due.postpone(entry, new Date(now().getTime() + RESEND_SECONDS * 1000));
        return true;
      } catch (error) {
        log('SOURCE_NOT_MOVED', { sourceId: entry.id, error });
        return false;
      }
    }

    /**
     * Each batch is moved on as soon as it was sent: a run that is killed has sent little that comes again.
     */
    async function handle(entries: DueSource[]): Promise<void> {
      const batches = Array.from({ length: Math.ceil(entries.length / SEND) }, (_, index) =>
        entries.slice(index * SEND, (index + 1) * SEND),
      );
      await mapConcurrently(batches, BATCHES_AT_ONCE, async (batch) => {
        const sent = await send(batch);
        const moved = await Promise.all(sent.map(moveOn));
        done.sent += sent.length;
        done.left += batch.length - moved.filter(Boolean).length;
      });
      for (const { dueAt } of entries)
        done.latestSeconds = Math.max(done.latestSeconds, (now().getTime() - Date.parse(dueAt)) / 1000);
    }

    const startedAt = now();
    done.complete = await scanShards(
      startedAt,
      {
        shards,
        atOnce: SHARDS_AT_ONCE,
        find: (shard, after) => due.find(shard, startedAt, after),
        handler: () => handle,
        goOn,
        unread: (shard, error) => log('SOURCE_SHARD_UNREAD', { shard, error }),
      },
      { log, failures },
    );
    if (failures.length > 0) throw failures[0];
    return done;
  };
}

export interface DigestPorts {
  due: {
    find(until: Date, after?: Position): Promise<DuePage<DueDigest>>;
    postpone(entry: DueDigest, until: Date): Promise<void>;
  };
  mails: {
    /** @returns the events that the queue did not take */
    send(events: readonly BusEvent[]): Promise<BusEvent[]>;
  };
  log: Log;
  now: () => Date;
}

/**
 * Sends a message for every digest that is due, then moves its time on, so that one whose message gets lost
 * comes again. A message too many changes nothing: the e-mail is claimed.
 */
export function sendDueDigests({ due, mails, log, now }: DigestPorts) {
  /** @throws what kept some from being read or sent, after the rest was processed */
  return async (goOn: () => boolean): Promise<void> => {
    const failures: unknown[] = [];

    async function send(entries: readonly DueDigest[]): Promise<void> {
      const events = new Map(entries.map((entry) => [entry, buildDigestEvent(entry, now())]));
      const refused = new Set((await mails.send([...events.values()])).map(({ id }) => id));
      const until = new Date(now().getTime() + DIGEST_RESEND_SECONDS * 1000);
      for (const [entry, { id }] of events) if (!refused.has(id)) await due.postpone(entry, until);
    }

    const until = now();
    try {
      await readPages((after) => due.find(until, after), send, goOn, reportUnreadableRow(log, failures));
    } catch (error) {
      log('DIGESTS_NOT_SENT', { error });
      failures.push(error);
    }
    if (failures.length > 0) throw failures[0];
  };
}
