import {
  type Claimability,
  type Delivery,
  type DeliveryMessage,
  type DeliveryRef,
  decideDisposition,
  getClaimability,
  type MessageDisposition,
  type SkipReason,
} from '../domain/delivery.ts';
import { isExpired } from '../domain/due.ts';
import {
  computeReceipt,
  computeResumption,
  computeWaitTerms,
  isResumedEarly,
  type ParkedTurn,
  planTurns,
  type RateSchedule,
  type ScheduleUpdate,
  type Turns,
} from '../domain/endpoint-rate.ts';
import type { ReceiverId } from '../domain/ids.ts';
import type { Log } from '../platform/log-codes.ts';

export interface TurnPorts {
  schedules: {
    /** @returns whether the update's conditions held, and the schedule after it */
    apply(
      id: ReceiverId,
      update: ScheduleUpdate,
      now: Date,
    ): Promise<{ applied: boolean; schedule: RateSchedule | undefined }>;
  };
  deliveries: {
    find(ref: DeliveryRef): Promise<Delivery | undefined>;
    /** @returns the state that forbids it, if any */
    park(
      ref: DeliveryRef,
      terms: { turn: ParkedTurn; resumedAt: Date; now: Date },
    ): Promise<{ kind: 'parked' } | Claimability>;
    skip(ref: DeliveryRef, reason: SkipReason, now: Date): Promise<'done' | 'refused'>;
  };
  log: Log;
  now: () => Date;
}

/** A message for an endpoint with a limit of attempts per second. */
export interface LimitedMessage {
  message: DeliveryMessage;
  maxPerSecond: number;
}

/** What a message does about its endpoint's limit. */
export type Turn =
  /** Its attempt may start at this time, milliseconds since the epoch. */
  | { kind: 'start'; at: number }
  /** It is replaced by this message, which asks for its turn when it is received. */
  | { kind: 'queue'; message: DeliveryMessage; until: Date }
  /** It is not attempted now, for example because its delivery was parked. */
  | { kind: 'leave'; disposition: MessageDisposition }
  | { kind: 'failed'; error: unknown };

/** Tries to apply an update under concurrent ones, each from the schedule that refused the last. */
const TRIES = 8;
/** Schedules kept in memory as first guesses. */
const REMEMBERED = 1000;

class ScheduleContended extends Error {}

/**
 * Gives messages for endpoints with a limit their turns, with one conditional write per endpoint and batch. A
 * message without a turn waits in its queue, and far ahead of its turn in the table. Nothing counts as an
 * attempt. When the schedule cannot be written, the messages fail: the receiver asked not to get more.
 * @param graceSeconds seconds past due after which a message counts as lost
 */
export function endpointTurns({ schedules, deliveries, log, now }: TurnPorts, graceSeconds: number) {
  const terms = computeWaitTerms(graceSeconds);
  const seen = new Map<ReceiverId, RateSchedule>();

  function remember(id: ReceiverId, schedule: RateSchedule | undefined): void {
    seen.delete(id);
    if (schedule === undefined) return;
    seen.set(id, schedule);
    const [oldest] = seen.keys();
    if (seen.size > REMEMBERED && oldest !== undefined) seen.delete(oldest);
  }

  async function takeTurns(
    id: ReceiverId,
    maxPerSecond: number,
    demand: Parameters<typeof planTurns>[1],
  ): Promise<Turns> {
    for (let tried = 0; tried < TRIES; tried += 1) {
      const { update, read } = planTurns(seen.get(id), demand, maxPerSecond, now().getTime(), terms);
      const { applied, schedule } = await schedules.apply(id, update, now());
      remember(id, schedule);
      if (applied && schedule !== undefined) return read(schedule);
    }
    throw new ScheduleContended(`the schedule of ${id} changed ${TRIES} times`);
  }

  /** Parks a delivery; one that is too old ends instead, because nothing else would end it. */
  async function park(message: DeliveryMessage, turn: ParkedTurn): Promise<Turn> {
    const at = now();
    if (isExpired(message, at)) {
      const result = await deliveries.skip(message, 'expired', at);
      if (result === 'refused')
        return leave(getClaimability(await deliveries.find(message), now(), Number.POSITIVE_INFINITY));
      log('TURN_NEVER_CAME', { deliveryId: message.id, webhookId: message.webhookId });
      return leave({ kind: 'skipped' });
    }
    const resumedAt = computeResumption(turn, at, terms);
    const result = await deliveries.park(message, { turn, resumedAt, now: at });
    return result.kind === 'parked' ? { kind: 'leave', disposition: { kind: 'delete' } } : leave(result);
  }

  /** Another worker changed the delivery: its state decides about the message. */
  const leave = (found: Claimability | { kind: 'skipped' }): Turn => ({
    kind: 'leave',
    disposition: decideDisposition(
      found.kind === 'claimable' || found.kind === 'spent' ? { kind: 'overtaken', until: now() } : found,
    ),
  });

  /** The parked turn of a delivery that was resumed before it, so that it keeps its place. */
  async function findEarly(message: DeliveryMessage, rate: number): Promise<ParkedTurn | undefined> {
    if (message.waited?.parked !== true) return undefined;
    const found = await deliveries.find(message);
    return isResumedEarly(found?.turn, rate, now(), terms) ? found?.turn : undefined;
  }

  async function takeTurnsOfEndpoint(
    id: ReceiverId,
    maxPerSecond: number,
    messages: readonly DeliveryMessage[],
  ): Promise<Map<DeliveryMessage, Turn>> {
    const turns = new Map<DeliveryMessage, Turn>();
    const early = await Promise.all(messages.map((message) => findEarly(message, maxPerSecond)));
    const startedMs = now().getTime();
    const isOverdue = ({ waited }: DeliveryMessage) =>
      waited !== undefined && startedMs - waited.since > terms.overdueMs;
    const wanting = messages.filter((_, index) => early[index] === undefined);
    const overdue = wanting.filter(isOverdue);
    const returning = wanting.filter(
      (one) => one.waited !== undefined && one.waited.parked !== true && !isOverdue(one),
    );
    const resumed = wanting.filter((one) => one.waited?.parked === true && !isOverdue(one));
    const fresh = wanting.filter(({ waited }) => waited === undefined);
    const inOrder = [...overdue, ...returning, ...resumed, ...fresh];

    const parking: { message: DeliveryMessage; turn: ParkedTurn }[] = [];
    for (const [index, message] of messages.entries()) {
      const turn = early[index];
      if (turn !== undefined) parking.push({ message, turn });
    }
    if (wanting.length > 0) {
      const given = await takeTurns(id, maxPerSecond, {
        overdue: overdue.length,
        returning: returning.length,
        resumed: resumed.length,
        fresh: fresh.length,
      });
      const starting = inOrder.slice(0, given.starts.length);
      const left = inOrder.slice(given.starts.length);
      const queueing = left.filter((one) => !isOverdue(one)).slice(0, given.queued.length);
      for (const [index, message] of starting.entries())
        turns.set(message, { kind: 'start', at: given.starts[index] ?? startedMs });
      for (const [index, message] of queueing.entries())
        turns.set(message, {
          kind: 'queue',
          message: { ...message, waited: { since: message.waited?.since ?? startedMs } },
          until: computeReceipt(given.queued[index] ?? startedMs, maxPerSecond),
        });
      const rest = left.filter((one) => !queueing.includes(one));
      for (const [index, message] of rest.entries())
        parking.push({ message, turn: { at: given.parked[index] ?? startedMs, rate: maxPerSecond } });
    }
    const parked = await Promise.allSettled(parking.map(({ message, turn }) => park(message, turn)));
    for (const [index, { message }] of parking.entries()) {
      const result = parked[index];
      turns.set(
        message,
        result?.status === 'fulfilled' ? result.value : { kind: 'failed', error: result?.reason },
      );
    }
    return turns;
  }

  /** @returns the turn of each message */
  return async (messages: readonly LimitedMessage[]): Promise<Map<DeliveryMessage, Turn>> => {
    const groups = [...Map.groupBy(messages, ({ message }) => message.webhookId)];
    const turns = await Promise.all(
      groups.map(async ([id, group]): Promise<Iterable<[DeliveryMessage, Turn]>> => {
        const own = group.map(({ message }) => message);
        try {
          return await takeTurnsOfEndpoint(id, Math.min(...group.map((one) => one.maxPerSecond)), own);
        } catch (error) {
          return own.map((message): [DeliveryMessage, Turn] => [message, { kind: 'failed', error }]);
        }
      }),
    );
    return new Map(turns.flatMap((some) => [...some]));
  };
}
