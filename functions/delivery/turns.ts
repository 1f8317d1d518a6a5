import * as z from 'zod/mini';
import { type Call, collectCalls } from '../aws/concurrency.ts';
import { all, assign, expression, unchanged } from '../aws/expression.ts';
import type { ReceiverId } from '../aws/ids.ts';
import type { Log } from '../aws/log-codes.ts';
import { Contended, get, type Table, toExpiry, update } from '../aws/table.ts';
import { keys } from '../tenancy/keys.ts';
import type { Delivery, DeliveryMessage, Turn } from './delivery.ts';
import type { Lane } from './lanes.ts';
import { type DeliveryMoves, type DeliveryStore, getClaimability, isExpired } from './rows.ts';
import { decideDisposition, type MessageDisposition } from './settle.ts';

/**
 * Counter of an endpoint with a limit (docs/decisions/0026-endpoint-rate.md): its next free time, in
 * milliseconds since the epoch with fractions. A change of the limit begins an era: older times are void.
 */
export const RateSchedule = z.object({ next: z.number(), rate: z.int(), era: z.int() });
export type RateSchedule = z.infer<typeof RateSchedule>;

/** After a change of the limit, so that the attempts that were to start at once have started. */
const CHANGE_MS = 2000;
/** A parked delivery is resumed within this time or half of its wait, so that a raised limit has effect. */
const SHORTEST_PARKED_MS = 3_600_000;
/** From the time at which a delivery's message may come to the last at which it may start. */
const SPREAD_MS = 2000;

/**
 * How long an attempt may wait for its time within an invocation. SQS delays messages by whole seconds, and
 * this spreads them evenly up to 100 a second. Above, it would take too many invocations.
 */
const computeHeldMs = (rate: number): number => Math.min(950, Math.max(150, 95_000 / rate));

/**
 * Whether a time has passed unused: many late attempts must not start at once. Each miss allows a later
 * start, so that an attempt does start in a queue that is late for long.
 */
const isMissed = ({ at, missed }: Turn, rate: number, now: Date): boolean =>
  now.getTime() > at + (SPREAD_MS - computeHeldMs(rate)) * 4 ** missed;

/** When the message of a delivery is to come: shortly before its time, or early if that is far. */
function computeReceipt({ at }: Turn, rate: number, now: Date): Date {
  const waitMs = at - computeHeldMs(rate) - now.getTime();
  return new Date(now.getTime() + Math.min(waitMs, Math.max(SHORTEST_PARKED_MS, waitMs / 2)));
}

/** Longer than a delivery stays open. */
const KEPT_DAYS = 4;
/** Tries of an update under concurrent ones, each from the schedule that refused the last. */
const TRIES = 8;

/** Schedules of endpoints with a limit, apart from the endpoints: their items take a write for each batch. */
export function rateScheduleStore(rates: Table) {
  return {
    async find(id: ReceiverId): Promise<RateSchedule | undefined> {
      const row = await get(rates, keys.rateSchedule(id));
      return row && RateSchedule.parse(row);
    },

    /**
     * Takes consecutive times of an endpoint, from its next free one on. A changed limit is written only over
     * the schedule that was seen just before, because a process may have been frozen meanwhile.
     * @param seen the schedule as last read
     */
    async take(
      id: ReceiverId,
      {
        seen,
        rate,
        count,
        now,
      }: { seen: RateSchedule | undefined; rate: number; count: number; now: () => Date },
    ): Promise<{ era: number; times: number[] }> {
      const intervalMs = 1000 / rate;
      const spanMs = count * intervalMs;
      let last = seen;
      for (let tried = 0; tried < TRIES; tried += 1) {
        const at = now();
        const nowMs = at.getTime();
        const isSame = last?.rate === rate;
        const isAhead = isSame && Number(last?.next) > nowMs;
        const first = last === undefined || isSame ? nowMs : nowMs + CHANGE_MS;
        const next = isAhead ? expression`#next + ${spanMs}` : expression`${first + spanMs}`;
        const era = (last?.era ?? 0) + (isSame ? 0 : 1);
        const isBehind = isSame && !isAhead ? expression`#next <= ${nowMs}` : undefined;
        const { kind, row } = await update(rates, keys.rateSchedule(id), {
          update: expression`SET ${assign({ rate, era, expiresAt: toExpiry(at, KEPT_DAYS) })}, #next = ${next}`,
          if: all(unchanged({ ...last }, isSame ? ['era'] : ['era', 'next']), isBehind),
          returns: 'new',
        });
        last = row && RateSchedule.parse(row);
        const end = Number(last?.next);
        if (kind === 'done')
          return { era, times: Array.from({ length: count }, (_, n) => end - spanMs + n * intervalMs) };
      }
      throw new Contended(`the schedule of ${id} changed ${TRIES} times`);
    },
  };
}

export interface TurnPorts {
  schedules: ReturnType<typeof rateScheduleStore>;
  deliveries: Pick<DeliveryStore, 'findAll'> & Pick<DeliveryMoves, 'keepTurn' | 'skip'>;
  log: Log;
  now: () => Date;
  /** A longer wait is parked in the table. */
  longestDelayMs?: number;
}

/** When the attempt after so many others may start, or what its message does instead. */
export type TurnOutcome =
  | { kind: 'start'; at: number; attempts: number }
  | { kind: 'wait'; disposition: MessageDisposition };

/** A message for an endpoint with a limit of attempts per second. */
type LimitedMessage = { message: DeliveryMessage; maxPerSecond: number; lane: Lane };
type TurnCall = Call<LimitedMessage, TurnOutcome>;

/**
 * Gives attempts at endpoints with a limit their times: those that ask at the same time take one conditional
 * write for each endpoint. A delivery keeps its time and waits for it in its queue, or in the table if it is
 * far. Nothing counts as an attempt. When the schedule cannot be written, the messages fail: the receiver
 * asked not to get more.
 */
export function endpointTurns({ schedules, deliveries, log, now, longestDelayMs = 300_000 }: TurnPorts) {
  async function use({ message, maxPerSecond, lane }: LimitedMessage, turn: Turn): Promise<TurnOutcome> {
    const at = now();
    const until = computeReceipt(turn, maxPerSecond, at);
    if (until <= at) return { kind: 'start', ...turn };
    const isParked = until.getTime() - at.getTime() > longestDelayMs;
    // Nothing else would end it, unless its message was deferred: then the reconciler sends it once more.
    if (isParked && isExpired(message, at) && (await deliveries.skip(message, 'expired', at)) === 'done')
      log('TURN_NEVER_CAME', { deliveryId: message.id, webhookId: message.webhookId });
    // When it has changed meanwhile, its message comes back at once.
    else if ((await deliveries.keepTurn(message, { turn, until, isParked, now: at })) === 'refused')
      return { kind: 'wait', disposition: { kind: 'keep', until: at } };
    return { kind: 'wait', disposition: isParked ? { kind: 'delete' } : { kind: 'move', lane, until } };
  }

  async function giveTurns(id: ReceiverId, calls: readonly TurnCall[], rows: ReadonlyMap<string, Delivery>) {
    const rate = Math.min(...calls.map(({ item }) => item.maxPerSecond));
    const seen = await schedules.find(id);
    const at = now();
    const asking: { call: TurnCall; attempts: number; missed: number }[] = [];
    for (const call of calls) {
      const delivery = rows.get(call.item.message.id);
      const state = getClaimability(delivery, at, Number.POSITIVE_INFINITY);
      const { attempts = 0, turn } = delivery ?? {};
      const isKept = turn?.attempts === attempts && turn.era === seen?.era && seen.rate === rate;
      if (state.kind !== 'claimable' && state.kind !== 'spent')
        call.resolve({ kind: 'wait', disposition: decideDisposition(state) });
      else if (isKept && !isMissed(turn, rate, at)) use(call.item, turn).then(call.resolve, call.reject);
      else asking.push({ call, attempts, missed: isKept ? turn.missed + 1 : 0 });
    }
    if (asking.length === 0) return;
    const { era, times } = await schedules.take(id, { seen, rate, count: asking.length, now });
    for (const [index, { call, attempts, missed }] of asking.entries())
      use(call.item, { at: Number(times[index]), era, attempts, missed }).then(call.resolve, call.reject);
  }

  return collectCalls<LimitedMessage, TurnOutcome>(async (calls) => {
    const messages = new Map(calls.map(({ item: { message } }) => [message.id, message]));
    const stored = await deliveries.findAll([...messages.values()]);
    const rows = new Map(stored.map((delivery) => [delivery.id, delivery]));
    const byEndpoint = Map.groupBy(calls, ({ item }) => item.message.webhookId);
    const giving = [...byEndpoint].map(async ([id, group]) =>
      giveTurns(id, group, rows).catch((error) => group.forEach(({ reject }) => void reject(error))),
    );
    await Promise.all(giving);
  });
}
