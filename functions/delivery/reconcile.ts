import { collectFailures, mapConcurrently, mapSettled } from '../aws/concurrency.ts';
import type { OrgId } from '../aws/ids.ts';
import type { Log } from '../aws/log-codes.ts';
import type { DueState } from '../tenancy/keys.ts';
import { type DuePage, type Position, takeTurns } from '../tenancy/turns.ts';
import type { DeliveryMessage, OutgoingMessage } from './delivery.ts';
import {
  computeNextCheck,
  type DueEntry,
  isExpired,
  LONGEST_GRACE_SECONDS,
  type PostponeReason,
  RESENT_IN_BACKLOG,
} from './due.ts';
import { LANES, type Lane } from './lanes.ts';
import { RECONCILE_EVERY_SECONDS } from './timing.ts';

export interface ReconcilePorts {
  due: {
    find(state: DueState, shard: number, until: Date, after?: Position): Promise<DuePage<DueEntry>>;
    postpone(entry: DueEntry, until: Date, reason: PostponeReason): Promise<void>;
    expire(entry: DueEntry, now: Date): Promise<'done' | 'refused'>;
  };
  queues: {
    send(lane: 'retry', messages: readonly OutgoingMessage[]): Promise<DeliveryMessage[]>;
    /** Messages that could be received and were not. */
    backlog(lane: Lane): Promise<number>;
  };
  log: Log;
  now: () => Date;
}

export interface ReconcileSettings {
  shards: number;
  graceSeconds: number;
  /**
   * Time until the next run plus a margin: this run sends the messages of parked deliveries that become due
   * until then.
   */
  lookaheadSeconds: number;
  /** See `LONG_BACKLOG`. */
  longBacklog: number;
}

export interface Reconciliation {
  /** Parked deliveries whose message was sent. */
  resumed: number;
  /** Deliveries whose lost message was resent. */
  resent: number;
  /** Late deliveries deferred because a queue has a long backlog, which probably contains their message. */
  deferred: number;
  expired: number;
  /** Messages that the queue did not take; the next run sends them. */
  refused: number;
  /** Delay of the latest parked delivery. */
  latestSeconds: number;
  /** Seconds since the oldest entry was due. */
  oldestSeconds: number;
  /** Whether every due entry was processed; otherwise the next run continues. */
  complete: boolean;
}

/** Concurrent updates of a round. */
const UPDATES_AT_ONCE = 16;
/** Maximum messages per SQS request. */
const BATCH_SIZE = 10;

/**
 * Sends the messages of due deliveries without one: parked deliveries in time, others when their message
 * counts as lost (docs/architecture.md, Guarantees). Reads only due entries. A run can end anywhere: the next
 * one finds entries that did not move, and an extra message changes nothing.
 */
export function reconcileDeliveries(
  { due, queues, log, now }: ReconcilePorts,
  { shards, graceSeconds, lookaheadSeconds, longBacklog }: ReconcileSettings,
) {
  /**
   * @param hasTime whether there is time for another page
   * @throws the first read error, after the rest was processed
   */
  return async (hasTime: () => boolean): Promise<Reconciliation> => {
    const done: Reconciliation = {
      resumed: 0,
      resent: 0,
      deferred: 0,
      expired: 0,
      refused: 0,
      latestSeconds: 0,
      oldestSeconds: 0,
      complete: true,
    };

    /** @param leeway time added to the due time of the entries */
    function recordAge(entries: readonly DueEntry[], leeway: number): void {
      for (const { dueAt } of entries)
        done.oldestSeconds = Math.max(
          done.oldestSeconds,
          (now().getTime() - Date.parse(dueAt)) / 1000 + leeway,
        );
    }

    async function sendParked(entries: readonly DueEntry[]): Promise<void> {
      recordAge(entries, 0);
      const sent = await sendAll(entries.map((entry) => ({ entry, until: new Date(entry.dueAt) })));
      done.resumed += sent.length;
      for (const { dueAt } of sent)
        done.latestSeconds = Math.max(
          done.latestSeconds,
          (now().getTime() - new Date(dueAt).getTime()) / 1000,
        );
      // The message arrives when the attempt is due; the delivery is checked again if it was lost.
      await postponeAll(
        sent,
        ({ dueAt }) => new Date(Math.max(new Date(dueAt).getTime(), now().getTime()) + graceSeconds * 1000),
        'sent',
      );
    }

    /** @param getTurn the run that sends an entry's message, counted from this one */
    async function resend(entries: readonly DueEntry[], getTurn: (entry: DueEntry) => number): Promise<void> {
      recordAge(entries, graceSeconds);
      const late: { entry: DueEntry; turn: number }[] = [];
      for (const entry of entries) {
        if (isExpired(entry.message, now()) && entry.isDeferred !== true) await expire(entry);
        else late.push({ entry, turn: getTurn(entry) });
      }
      const sent = await sendAll(late.filter(({ turn }) => turn === 0));
      done.resent += sent.length;
      await postponeAll(
        sent,
        ({ message: deliveryMessage }) => computeNextCheck(deliveryMessage, now(), graceSeconds),
        'sent',
      );
      const turns = new Map(late.flatMap(({ entry, turn }) => (turn === 0 ? [] : [[entry, turn]])));
      done.deferred += turns.size;
      await postponeAll([...turns.keys()], (entry) => getTimeAfterRuns(turns.get(entry) ?? 1), 'deferred');
    }

    const getTimeAfterRuns = (runs: number) =>
      new Date(now().getTime() + Math.min(runs * RECONCILE_EVERY_SECONDS, LONGEST_GRACE_SECONDS) * 1000);

    async function expire(entry: DueEntry): Promise<void> {
      const deliveryId = entry.message.id;
      try {
        if ((await due.expire(entry, now())) === 'refused') return;
        done.expired += 1;
        log('DELIVERY_EXPIRED', { deliveryId });
      } catch (error) {
        log('EXPIRY_FAILED', { deliveryId, error });
      }
    }

    /** @returns the entries whose messages were taken */
    async function sendAll(messages: readonly { entry: DueEntry; until?: Date }[]): Promise<DueEntry[]> {
      const batches = Array.from({ length: Math.ceil(messages.length / BATCH_SIZE) }, (_, index) =>
        messages.slice(index * BATCH_SIZE, (index + 1) * BATCH_SIZE),
      );
      const sent = await mapConcurrently(batches, UPDATES_AT_ONCE, async (batch) => {
        try {
          const refused = await queues.send(
            'retry',
            batch.map(({ entry, until }) => ({
              message: entry.message,
              ...(until === undefined ? {} : { until }),
            })),
          );
          const ids = new Set(refused.map(({ id }) => id));
          done.refused += ids.size;
          return batch.filter(({ entry }) => !ids.has(entry.message.id));
        } catch (error) {
          log('REMINDERS_NOT_SENT', { error });
          done.refused += batch.length;
          return [];
        }
      });
      return sent.flat().map(({ entry }) => entry);
    }

    async function postponeAll(
      entries: readonly DueEntry[],
      until: (entry: DueEntry) => Date,
      reason: PostponeReason,
    ): Promise<void> {
      await mapConcurrently(entries, UPDATES_AT_ONCE, async (entry) => {
        try {
          await due.postpone(entry, until(entry), reason);
        } catch (error) {
          log('DUE_ENTRY_NOT_MOVED', { deliveryId: entry.message.id, error });
        }
      });
    }

    /** Read errors of shards. */
    const failures: unknown[] = [];

    async function processState(
      state: DueState,
      until: Date,
      handle: (entries: readonly DueEntry[]) => Promise<void>,
    ): Promise<void> {
      const isComplete = await takeTurns(
        {
          partitions: shards,
          find: (shard, position) => due.find(state, shard, until, position),
          getOrganization: ({ message: deliveryMessage }) => deliveryMessage.orgId,
          async handle(entries) {
            await handle(entries);
            return [];
          },
          logUnread: (shard, error) => log('DUE_SHARD_UNREAD', { state, shard, error }),
        },
        { now: now(), hasTime, log, failures },
      );
      if (!isComplete) done.complete = false;
    }

    async function processWatched(): Promise<void> {
      // A message that counts as lost may wait in any queue. An unreadable backlog counts as short.
      const backlogs = await mapSettled(LANES, LANES.length, (lane) => queues.backlog(lane));
      const [failure] = collectFailures(LANES, backlogs);
      if (failure !== undefined) log('QUEUES_NOT_MEASURED', { error: failure.error });
      const isDeferring = backlogs.some(
        (backlog) => backlog.status === 'fulfilled' && backlog.value > longBacklog,
      );
      const getTurn = isDeferring ? createTurnCounter(RESENT_IN_BACKLOG, shards) : () => 0;
      await processState('watched', now(), (entries) => resend(entries, getTurn));
    }

    await Promise.all([
      processState('parked', new Date(now().getTime() + lookaheadSeconds * 1000), sendParked),
      processWatched(),
    ]);
    if (failures.length > 0) throw failures[0];
    return done;
  };
}

/** Assigns each message a turn by its organization's share: 0 is this run, 1 the next. */
function createTurnCounter(
  { ofOrganization, inAll }: typeof RESENT_IN_BACKLOG,
  shards: number,
): (entry: DueEntry) => number {
  const waiting = new Map<OrgId, number>();
  let now = 0;
  return ({ message: { orgId } }) => {
    const before = waiting.get(orgId) ?? 0;
    waiting.set(orgId, before + 1);
    const turn = Math.floor(before / (ofOrganization * shards));
    if (turn > 0) return turn;
    now += 1;
    return now > inAll * shards ? 1 : 0;
  };
}
