import { mapConcurrently } from '../aws/concurrency.ts';
import type { Log } from '../aws/log-codes.ts';
import type { BusEvent } from '../events/bus.ts';
import { type DuePage, type Position, takeTurns } from '../tenancy/turns.ts';
import { buildDueEvent, type DueSource, RESEND_SECONDS } from './sources.ts';

export interface ScheduleSourceChecksPorts {
  due: {
    find(shard: number, until: Date, after?: Position): Promise<DuePage<DueSource>>;
    /** Does nothing when the entry has moved. */
    postpone(entry: DueSource, until: Date): Promise<void>;
  };
  checks: {
    /** @returns the events that the queue did not take */
    send(events: readonly BusEvent[]): Promise<BusEvent[]>;
  };
  log: Log;
  now: () => Date;
}

export interface ScheduleResult {
  /** Sources whose message was sent. */
  sent: number;
  /** Sources not taken by the queue or not moved; the next run retries them. */
  left: number;
  /** Delay of the latest one. */
  latestSeconds: number;
  /** Whether every due entry was processed; otherwise the next run continues. */
  complete: boolean;
}

/** Concurrent batches of a round. */
const BATCHES_AT_ONCE = 2;
/** Maximum messages per SQS request. */
const BATCH_SIZE = 10;

/**
 * Sends a message for every due source, then moves its due time, so that a source with a lost message becomes
 * due again. Reads only due entries. A run can end anywhere: the next one finds what did not move, and an
 * extra message changes nothing.
 */
export function scheduleSourceChecks(
  { due, checks, log, now }: ScheduleSourceChecksPorts,
  { shards }: { shards: number },
) {
  /**
   * @param hasTime whether there is time for another page
   * @throws the first read error, after the rest was processed
   */
  return async (hasTime: () => boolean): Promise<ScheduleResult> => {
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

    async function postpone(entry: DueSource): Promise<boolean> {
      try {
        await due.postpone(entry, new Date(now().getTime() + RESEND_SECONDS * 1000));
        return true;
      } catch (error) {
        log('SOURCE_NOT_MOVED', { sourceId: entry.id, error });
        return false;
      }
    }

    /** Each batch moves as soon as it was sent, so that a killed run repeats little. */
    async function handle(entries: readonly DueSource[]): Promise<[]> {
      const batches = Array.from({ length: Math.ceil(entries.length / BATCH_SIZE) }, (_, index) =>
        entries.slice(index * BATCH_SIZE, (index + 1) * BATCH_SIZE),
      );
      await mapConcurrently(batches, BATCHES_AT_ONCE, async (batch) => {
        const sent = await send(batch);
        const postponed = await Promise.all(sent.map(postpone));
        done.sent += sent.length;
        done.left += batch.length - postponed.filter(Boolean).length;
      });
      for (const { dueAt } of entries)
        done.latestSeconds = Math.max(done.latestSeconds, (now().getTime() - Date.parse(dueAt)) / 1000);
      return [];
    }

    const startedAt = now();
    done.complete = await takeTurns(
      {
        partitions: shards,
        find: (shard, position) => due.find(shard, startedAt, position),
        getOrganization: ({ orgId }) => orgId,
        handle,
        logUnread: (shard, error) => log('SOURCE_SHARD_UNREAD', { shard, error }),
      },
      { now: startedAt, hasTime, log, failures },
    );
    if (failures.length > 0) throw failures[0];
    return done;
  };
}
