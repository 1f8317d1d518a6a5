import { BoundedMap } from '../aws/cache.ts';
import { type Call, collectCalls } from '../aws/concurrency.ts';
import type { ReceiverId } from '../aws/ids.ts';
import type { Log } from '../aws/log-codes.ts';
import {
  computeReceipt,
  computeResumption,
  computeWaitTerms,
  type Demand,
  isResumedEarly,
  type ParkedTurn,
  planTurns,
  type RateSchedule,
  type ScheduleUpdate,
  type Turns,
} from '../receivers/endpoint-rate.ts';
import {
  type Claimability,
  type Delivery,
  type DeliveryMessage,
  type DeliveryRef,
  decideDisposition,
  type MessageDisposition,
  type SkipReason,
} from './delivery.ts';
import { isExpired } from './due.ts';
import type { Lane } from './lanes.ts';

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

/** When the attempt may start, in milliseconds since the epoch, or what its message does instead. */
export type Turn = { kind: 'start'; at: number } | { kind: 'wait'; disposition: MessageDisposition };

/** A message for an endpoint with a limit of attempts per second. */
interface LimitedMessage {
  message: DeliveryMessage;
  maxPerSecond: number;
  lane: Lane;
}

/** Tries to apply an update under concurrent ones, each from the schedule that refused the last. */
const TRIES = 8;
/** Schedules kept in memory as first guesses. */
const REMEMBERED = 1000;

class ScheduleContended extends Error {}

type TurnCall = Call<LimitedMessage, Turn>;

/**
 * Gives messages for endpoints with a limit their turns: messages that ask at the same time take one
 * conditional write for each endpoint. A message without a turn waits in its queue, and far ahead of its turn
 * in the table. Nothing counts as an attempt. When the schedule cannot be written, the messages fail: the
 * receiver asked not to get more.
 * @param graceSeconds seconds past due after which a message counts as lost
 */
export function endpointTurns({ schedules, deliveries, log, now }: TurnPorts, graceSeconds: number) {
  const terms = computeWaitTerms(graceSeconds);
  const seen = new BoundedMap<ReceiverId, RateSchedule>(REMEMBERED);

  async function takeTurns(id: ReceiverId, maxPerSecond: number, demand: Demand): Promise<Turns> {
    for (let tried = 0; tried < TRIES; tried += 1) {
      const { update, read } = planTurns(seen.get(id), demand, maxPerSecond, now().getTime(), terms);
      const { applied, schedule } = await schedules.apply(id, update, now());
      if (schedule === undefined) seen.delete(id);
      else {
        seen.set(id, schedule);
        if (applied) return read(schedule);
      }
    }
    throw new ScheduleContended(`the schedule of ${id} changed ${TRIES} times`);
  }

  /**
   * Parks a delivery; one that is too old ends instead, because nothing else would end it, unless its message
   * was deferred: then the reconciler sends it once more.
   */
  async function park(message: DeliveryMessage, turn: ParkedTurn): Promise<Turn> {
    const at = now();
    if (isExpired(message, at) && (await deliveries.skip(message, 'expired', at)) === 'done') {
      log('TURN_NEVER_CAME', { deliveryId: message.id, webhookId: message.webhookId });
      return leave({ kind: 'skipped' });
    }
    const resumedAt = computeResumption(turn, at, terms);
    const result = await deliveries.park(message, { turn, resumedAt, now: at });
    return result.kind === 'parked' ? leave({ kind: 'skipped' }) : leave(result);
  }

  /** Another worker changed the delivery: its state decides about the message. */
  const leave = (found: Claimability | { kind: 'skipped' }): Turn => ({
    kind: 'wait',
    disposition: decideDisposition(
      found.kind === 'claimable' || found.kind === 'spent' ? { kind: 'overtaken', until: now() } : found,
    ),
  });

  /** The parked turn of a delivery that was resumed before it, so that it keeps its place. */
  async function findEarly({ message, maxPerSecond }: LimitedMessage): Promise<ParkedTurn | undefined> {
    if (message.waited?.parked !== true) return undefined;
    const found = await deliveries.find(message);
    return isResumedEarly(found?.turn, maxPerSecond, now(), terms) ? found?.turn : undefined;
  }

  async function takeTurnsOfEndpoint(id: ReceiverId, calls: readonly TurnCall[]): Promise<void> {
    const rate = Math.min(...calls.map(({ item }) => item.maxPerSecond));
    const startedMs = now().getTime();
    const kindOf = ({ item: { message } }: TurnCall): keyof Demand => {
      if (message.waited === undefined) return 'fresh';
      if (startedMs - message.waited.since > terms.overdueMs) return 'overdue';
      return message.waited.parked === true ? 'resumed' : 'returning';
    };
    const kinds = Map.groupBy(calls, kindOf);
    const of = (kind: keyof Demand) => kinds.get(kind) ?? [];
    const given = await takeTurns(id, rate, {
      overdue: of('overdue').length,
      returning: of('returning').length,
      resumed: of('resumed').length,
      fresh: of('fresh').length,
    });
    const waiting = [...of('overdue'), ...of('returning'), ...of('resumed'), ...of('fresh')];
    for (const at of given.starts) waiting.shift()?.resolve({ kind: 'start', at });
    const queueing = waiting.filter((call) => kindOf(call) !== 'overdue').slice(0, given.queued.length);
    for (const [index, { item, resolve }] of queueing.entries()) {
      const message = { ...item.message, waited: { since: item.message.waited?.since ?? startedMs } };
      const until = computeReceipt(given.queued[index] ?? startedMs, rate);
      resolve({ kind: 'wait', disposition: { kind: 'move', lane: item.lane, until, message } });
    }
    const parking = waiting.filter((call) => !queueing.includes(call));
    for (const [index, { item, resolve, reject }] of parking.entries())
      park(item.message, { at: given.parked[index] ?? startedMs, rate }).then(resolve, reject);
  }

  const take = collectCalls<LimitedMessage, Turn>(async (calls) => {
    const groups = Map.groupBy(calls, ({ item }) => item.message.webhookId);
    await Promise.all(
      [...groups].map(([id, group]) =>
        takeTurnsOfEndpoint(id, group).catch((error: unknown) => {
          for (const { reject } of group) reject(error);
        }),
      ),
    );
  });

  return async (limited: LimitedMessage): Promise<Turn> => {
    const early = await findEarly(limited);
    return early === undefined ? take(limited) : park(limited.message, early);
  };
}
