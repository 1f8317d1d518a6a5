import { type Call, collectCalls } from '../aws/concurrency.ts';
import type { ReceiverId } from '../aws/ids.ts';
import type { Log } from '../aws/log-codes.ts';
import { computeReceipt, isMissed, LONGEST_DELAYED_MS, type Turn } from '../receivers/endpoint-rate.ts';
import type { RateScheduleStore } from '../receivers/rate-schedules.ts';
import type { DeliveryMoves, DeliveryStore } from './deliveries.ts';
import type { Delivery, DeliveryMessage, MessageDisposition } from './delivery.ts';
import { decideDisposition, getClaimability } from './delivery.ts';
import type { Lane } from './lanes.ts';
import { isExpired } from './reconcile.ts';

export interface TurnPorts {
  schedules: RateScheduleStore;
  deliveries: Pick<DeliveryStore, 'findAll'> & Pick<DeliveryMoves, 'keepTurn' | 'skip'>;
  log: Log;
  now: () => Date;
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
export function endpointTurns({ schedules, deliveries, log, now }: TurnPorts) {
  async function use({ message, maxPerSecond, lane }: LimitedMessage, turn: Turn): Promise<TurnOutcome> {
    const at = now();
    const until = computeReceipt(turn, maxPerSecond, at);
    if (until <= at) return { kind: 'start', ...turn };
    const isParked = until.getTime() - at.getTime() > LONGEST_DELAYED_MS;
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
    const { era, times } = await schedules.take(id, { seen, rate, count: asking.length, now: at });
    for (const [index, { call, attempts, missed }] of asking.entries())
      use(call.item, { at: Number(times[index]), era, attempts, missed }).then(call.resolve, call.reject);
  }

  return collectCalls<LimitedMessage, TurnOutcome>(async (calls) => {
    const messages = new Map(calls.map(({ item: { message } }) => [message.id, message]));
    const found = await deliveries.findAll([...messages.values()]);
    const rows = new Map(found.map((delivery) => [delivery.id, delivery]));
    const byEndpoint = Map.groupBy(calls, ({ item }) => item.message.webhookId);
    const giving = [...byEndpoint].map(async ([id, group]) =>
      giveTurns(id, group, rows).catch((error) => group.forEach(({ reject }) => void reject(error))),
    );
    await Promise.all(giving);
  });
}
