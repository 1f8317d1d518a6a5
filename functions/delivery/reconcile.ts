import { collectFailures, mapSettled } from '../aws/concurrency.ts';
import { type OrgId, parseCreationTime } from '../aws/ids.ts';
import type { Log } from '../aws/log-codes.ts';
import { DUE_SHARDS, type DueState } from '../tenancy/keys.ts';
import { type PhaseRun, processInRounds, sendMessages, sweep, updateEntries } from '../tenancy/sweep.ts';
import type { DeliveryMessage, OutgoingMessage } from './delivery.ts';
import type { DueEntry, DueRange, dueIndex, PostponeReason } from './due-index.ts';
import { LANES, type Lane } from './lanes.ts';
import type { deliveryQueues } from './queues.ts';
import { isExpired } from './rows.ts';
import { RECONCILE_EVERY_SECONDS, RECONCILE_LOOKAHEAD_SECONDS } from './timing.ts';

/** Messages in a queue from which a late delivery's message counts as waiting, not lost. */
export const LONG_BACKLOG = 10_000;

/** Late deliveries that a run resends while a queue has a long backlog: of one organization and in total. */
export const RESENT_IN_BACKLOG = { ofOrganization: 64, inAll: 1600 };

/** Maximum time between two checks of a delivery whose message keeps getting lost. */
const LONGEST_GRACE_SECONDS = 6 * 3600;

/**
 * Computes the next check of a delivery whose message was just resent. The interval grows with the
 * delivery's age, so the number of messages grows with the logarithm of the wait.
 */
export function computeNextCheck({ id }: Pick<DeliveryMessage, 'id'>, now: Date, graceSeconds: number): Date {
  const age = (now.getTime() - parseCreationTime(id).getTime()) / 1000;
  const seconds = Math.min(Math.max(graceSeconds, age), Math.max(graceSeconds, LONGEST_GRACE_SECONDS));
  return new Date(now.getTime() + Math.ceil(seconds * 1000));
}

export interface ReconcilePorts {
  due: Omit<ReturnType<typeof dueIndex>, 'watch'>;
  queues: Pick<ReturnType<typeof deliveryQueues<Lane>>, 'send' | 'backlog'>;
  log: Log;
  now: () => Date;
}

/**
 * Sends the messages of due deliveries without one: parked deliveries in time, others when their message
 * counts as lost (docs/architecture.md, Guarantees). Reads only due entries.
 */
export function reconcileDeliveries(
  { due, queues, log, now }: ReconcilePorts,
  { graceSeconds, longBacklog = LONG_BACKLOG }: { graceSeconds: number; longBacklog?: number },
) {
  const computeTime = (seconds: number) => new Date(now().getTime() + seconds * 1000);

  /** @throws as `sweep` */
  return async (hasTime: () => boolean) => {
    const done = {
      /** Parked deliveries whose message was sent. */
      resumed: 0,
      /** Deliveries whose lost message was resent. */
      resent: 0,
      /** Late deliveries deferred: a queue has a long backlog, which probably contains their message. */
      deferred: 0,
      expired: 0,
      /** Messages that the queue did not take; the next run sends them. */
      refused: 0,
      /** Delay of the latest parked delivery. */
      latestSeconds: 0,
      /** Seconds since the oldest entry was due. */
      oldestSeconds: 0,
      /** Whether every due entry was processed; otherwise the next run continues. */
      complete: true,
    };
    const getDelay = ({ dueAt }: DueEntry) => (now().getTime() - Date.parse(dueAt)) / 1000;

    /** @returns the entries whose messages were taken */
    async function send(
      entries: readonly DueEntry[],
      toMessage: (entry: DueEntry) => OutgoingMessage,
    ): Promise<DueEntry[]> {
      const sent = await sendMessages(
        entries,
        toMessage,
        (messages) => queues.send('retry', messages),
        (error) => log('REMINDERS_NOT_SENT', { error }),
      );
      done.refused += entries.length - sent.length;
      return sent;
    }

    const postpone = (
      entries: readonly DueEntry[],
      computeDueAt: (entry: DueEntry) => Date,
      reason: PostponeReason,
    ) =>
      updateEntries(
        entries,
        (entry) => due.postpone(entry, computeDueAt(entry), reason),
        ({ message: { id: deliveryId } }, error) => log('DUE_ENTRY_NOT_MOVED', { deliveryId, error }),
      );

    async function sendParked(entries: readonly DueEntry[]): Promise<[]> {
      done.oldestSeconds = Math.max(done.oldestSeconds, ...entries.map(getDelay));
      const sent = await send(entries, ({ message, dueAt }) => ({ message, until: new Date(dueAt) }));
      done.resumed += sent.length;
      done.latestSeconds = Math.max(done.latestSeconds, ...sent.map(getDelay));
      // The message arrives when the attempt is due; the delivery is checked again if it was lost.
      const getTime = ({ dueAt }: DueEntry) => Math.max(Date.parse(dueAt), now().getTime());
      await postpone(sent, (entry) => new Date(getTime(entry) + graceSeconds * 1000), 'sent');
      return [];
    }

    /** @param countRuns returns the number of runs until the one that sends a message: 0 is this run */
    async function resend(
      entries: readonly DueEntry[],
      countRuns: (message: DeliveryMessage) => number,
    ): Promise<[]> {
      const delays = entries.map((entry) => getDelay(entry) + graceSeconds);
      done.oldestSeconds = Math.max(done.oldestSeconds, ...delays);
      const expired = new Set(
        entries.filter(({ message, isDeferred }) => isExpired(message, now()) && isDeferred !== true),
      );
      await updateEntries([...expired], expire, ({ message: { id: deliveryId } }, error) =>
        log('EXPIRY_FAILED', { deliveryId, error }),
      );
      const late = entries.filter((entry) => !expired.has(entry));
      const runs = new Map(late.map((entry) => [entry, countRuns(entry.message)]));
      const sent = await send(
        late.filter((entry) => runs.get(entry) === 0),
        ({ message }) => ({ message }),
      );
      done.resent += sent.length;
      await postpone(sent, ({ message }) => computeNextCheck(message, now(), graceSeconds), 'sent');
      const deferred = late.filter((entry) => runs.get(entry) !== 0);
      done.deferred += deferred.length;
      const getWait = (entry: DueEntry) => (runs.get(entry) ?? 1) * RECONCILE_EVERY_SECONDS;
      await postpone(
        deferred,
        (entry) => computeTime(Math.min(getWait(entry), LONGEST_GRACE_SECONDS)),
        'deferred',
      );
      return [];
    }

    async function expire(entry: DueEntry): Promise<void> {
      if ((await due.expire(entry, now())) === 'refused') return;
      done.expired += 1;
      log('DELIVERY_EXPIRED', { deliveryId: entry.message.id });
    }

    const takeDue = (
      state: DueState,
      until: Date,
      handle: (entries: readonly DueEntry[]) => Promise<[]>,
    ): PhaseRun =>
      processInRounds({
        partitions: DUE_SHARDS,
        find: (shard, position?: DueRange) => due.find(state, shard, until, position),
        getOrganization: ({ message: { orgId } }) => orgId,
        handle,
        logUnread: (shard, error) => log('DUE_SHARD_UNREAD', { state, shard, error }),
      });

    const takeWatched: PhaseRun = async (run) => {
      // A message that counts as lost may wait in any queue. An unreadable backlog counts as short.
      const backlogs = await mapSettled(LANES, LANES.length, (lane) => queues.backlog(lane));
      const [failure] = collectFailures(LANES, backlogs);
      if (failure !== undefined) log('QUEUES_NOT_MEASURED', { error: failure.error });
      const isLong = (backlog: PromiseSettledResult<number>) =>
        backlog.status === 'fulfilled' && backlog.value > longBacklog;
      const countRuns = backlogs.some(isLong) ? createRunCounter() : () => 0;
      return takeDue('watched', now(), (entries) => resend(entries, countRuns))(run);
    };

    // Those that become due until the next run ends.
    const takeParked = takeDue('parked', computeTime(RECONCILE_LOOKAHEAD_SECONDS), sendParked);
    done.complete = await sweep([takeParked, takeWatched], { now: now(), hasTime, log });
    return done;
  };
}

/** Assigns each message a run by its organization's share: 0 is this run, 1 the next. */
function createRunCounter(): (message: DeliveryMessage) => number {
  const { ofOrganization, inAll } = RESENT_IN_BACKLOG;
  const waiting = new Map<OrgId, number>();
  let resent = 0;
  return ({ orgId }) => {
    const before = waiting.get(orgId) ?? 0;
    waiting.set(orgId, before + 1);
    const run = Math.floor(before / ofOrganization);
    if (run > 0) return run;
    resent += 1;
    return resent > inAll ? 1 : 0;
  };
}

/**
 * Processes a delivery message that SQS gave up after too many receives: the delivery stays open, and the due
 * index takes it over until it ends or expires.
 */
export function processDeadDeliveryMessage(
  { due, log, now }: { due: Pick<ReturnType<typeof dueIndex>, 'watch'>; log: Log; now: () => Date },
  { graceSeconds }: { graceSeconds: number },
) {
  return async (deliveryMessage: DeliveryMessage): Promise<void> => {
    const { id: deliveryId, webhookId, traceId } = deliveryMessage;
    log('REMINDER_DEAD', { deliveryId, webhookId, traceId });
    await due.watch(deliveryMessage, new Date(now().getTime() + graceSeconds * 1000));
  };
}
