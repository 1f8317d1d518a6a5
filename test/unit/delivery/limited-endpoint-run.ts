import { type DeliveryMessage, toDeliveryMessage } from '../../../functions/delivery/delivery.ts';
import {
  computeDelaySeconds,
  DEFAULT_GRACE_SECONDS,
  RECONCILE_EVERY_SECONDS,
  RECONCILE_LOOKAHEAD_SECONDS,
} from '../../../functions/delivery/timing.ts';
import { endpointTurns, rateScheduleStore } from '../../../functions/delivery/turns.ts';
import { aDelivery, anEndpoint, NOW } from '../../builders.ts';
import { MemoryEndpoints, memoryDeliveries } from '../../doubles/memory-deliveries.ts';
import { recordedLog } from '../../doubles/recorded-log.ts';
import { memoryTables } from '../../doubles/tables/stack-tables.ts';

/** The largest batch of a queue. */
const BATCH = 10;
const RECONCILE_MS = RECONCILE_EVERY_SECONDS * 1000;

export interface Model {
  rate: number;
  /** When each delivery's first message is received, in milliseconds from the start. */
  arrivals: readonly number[];
  workers?: number;
  /** How far the workers' clocks differ from the true time. Milliseconds. */
  skewMs?: number;
  /** Time between a message's visibility and its receipt. Milliseconds. */
  latency?: (ms: number) => number;
  random?: () => number;
  /** Changes the rate at a time. */
  rateAt?: (ms: number) => number;
}

/**
 * Runs messages of one endpoint with a limit, worker by worker in virtual time: queues with delays of whole
 * seconds, batches, the reconciler every minute.
 */
export async function runLimitedEndpoint({
  rate,
  arrivals,
  workers = 4,
  skewMs = 0,
  latency = () => 20,
  random = () => 0.5,
  rateAt = () => rate,
}: Model) {
  const schedules = rateScheduleStore(memoryTables().rates);
  const begin = NOW.getTime();
  const endpoint = anEndpoint({ maxPerSecond: rate });
  const deliveries = memoryDeliveries(new MemoryEndpoints());
  const log = recordedLog();
  let ms = 0;
  const pool = Array.from({ length: workers }, (_, index) => {
    const skew = workers === 1 ? 0 : (index / (workers - 1) - 0.5) * 2 * skewMs;
    const now = () => new Date(begin + ms + skew);
    return { now, takeTurn: endpointTurns({ schedules, deliveries, log, now }) };
  });

  const order = new Map<string, number>();
  /** Messages by the time of their receipt. */
  const visible: { at: number; message: DeliveryMessage }[] = [];
  function show(at: number, message: DeliveryMessage): void {
    let [low, high] = [0, visible.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((visible[middle]?.at ?? 0) <= at) low = middle + 1;
      else high = middle;
    }
    visible.splice(low, 0, { at, message });
  }
  for (const [index, at] of arrivals.entries()) {
    const delivery = aDelivery({ webhookId: endpoint.id, orgId: endpoint.orgId });
    await deliveries.add(delivery);
    order.set(delivery.id, index);
    show(at + latency(at), toDeliveryMessage(delivery));
  }
  const starts: { at: number; startedAt: number; missed: number; arrived: number; index: number }[] = [];
  const counts = { messages: arrivals.length, parked: 0, resumed: 0 };
  let reconciled = 0;

  function send(message: DeliveryMessage, until: Date, clock: Date): void {
    const at = ms + computeDelaySeconds(until, clock) * 1000;
    counts.messages += 1;
    show(at + latency(at), message);
  }

  function reconcile(): void {
    const now = new Date(begin + ms);
    for (const { delivery, due } of deliveries.due) {
      if (
        due.state !== 'parked' ||
        Date.parse(due.dueAt) > now.getTime() + RECONCILE_LOOKAHEAD_SECONDS * 1000
      )
        continue;
      counts.resumed += 1;
      const until = new Date(due.dueAt);
      const since = Math.max(until.getTime(), now.getTime());
      send(toDeliveryMessage(delivery), until, now);
      deliveries.putDue(delivery, 'watched', new Date(since + DEFAULT_GRACE_SECONDS * 1000));
    }
  }

  async function receive(batch: DeliveryMessage[], worker: (typeof pool)[number]): Promise<void> {
    const turns = await Promise.all(
      batch.map((message) => worker.takeTurn({ message, maxPerSecond: rateAt(ms), lane: 'fresh' })),
    );
    for (const [position, message] of batch.entries()) {
      const index = order.get(message.id) ?? -1;
      const turn = turns[position];
      if (turn?.kind === 'start')
        starts.push({
          at: turn.at - begin,
          startedAt: Math.max(ms, turn.at - begin),
          missed: deliveries.present(message)?.turn?.missed ?? 0,
          arrived: arrivals[index] ?? 0,
          index,
        });
      else if (turn?.disposition.kind === 'move') send(message, turn.disposition.until, worker.now());
      else if (turn?.disposition.kind === 'keep') show(turn.disposition.until.getTime() - begin, message);
      else counts.parked += 1;
    }
  }

  while (starts.length < arrivals.length && ms < 24 * 3_600_000) {
    ms = Math.max(ms, Math.min(visible[0]?.at ?? Number.POSITIVE_INFINITY, reconciled * RECONCILE_MS));
    if (ms >= reconciled * RECONCILE_MS) {
      reconcile();
      reconciled += 1;
    }
    const later = visible.findIndex(({ at }) => at > ms);
    const due = visible.splice(0, later === -1 ? visible.length : later).map(({ message }) => message);
    const batches = Array.from({ length: Math.ceil(due.length / BATCH) }, (_, index) =>
      due.slice(index * BATCH, (index + 1) * BATCH),
    );
    await Promise.all(
      batches.map((batch) => receive(batch, pool[Math.floor(random() * workers)] ?? Object(pool[0]))),
    );
  }
  return { starts: starts.toSorted((one, other) => one.at - other.at), counts, endMs: ms, deliveries };
}
