import { expect, it } from 'vitest';
import { type DeliveryId, newId } from '../../../functions/aws/ids.ts';
import { committer } from '../../../functions/aws/transaction.ts';
import { deliveryMoves, deliveryStore } from '../../../functions/delivery/deliveries.ts';
import { toDeliveryMessage } from '../../../functions/delivery/delivery.ts';
import { DEFAULT_GRACE_SECONDS, EXPIRY_SECONDS } from '../../../functions/delivery/due.ts';
import { dueIndex } from '../../../functions/delivery/due-index.ts';
import { endpointTurns, type Turn } from '../../../functions/delivery/endpoint-turns.ts';
import { rateScheduleStore } from '../../../functions/receivers/rate-schedules.ts';
import { DUE_SHARDS, listShards } from '../../../functions/tenancy/keys.ts';
import { aDelivery, anEndpoint, later, NOW, seconds } from '../../builders.ts';
import { recordedLog } from '../../doubles/recorded-log.ts';
import { memoryTables } from '../../doubles/tables/stack-tables.ts';

const HOUR = 3_600_000;

/**
 * The line of an endpoint with one attempt a second, over tables in memory.
 * @param graceSeconds messages wait in queues for a third of it
 */
function aLine(graceSeconds = DEFAULT_GRACE_SECONDS) {
  const tables = memoryTables();
  const endpoint = anEndpoint({ maxPerSecond: 1 });
  let now = NOW;
  const store = {
    ...deliveryStore(tables.deliveries),
    ...deliveryMoves(tables.deliveries, {
      ...tables,
      commit: committer(tables.service.client),
      graceSeconds,
    }),
  };
  const log = recordedLog();
  const ports = { schedules: rateScheduleStore(tables.rates), deliveries: store, log };
  const take = endpointTurns({ ...ports, now: () => now }, graceSeconds);
  const takeAhead = endpointTurns({ ...ports, now: () => later(now, seconds(60)) }, graceSeconds);
  const due = dueIndex(tables.deliveries);
  return {
    log,
    due,
    setTime: (time: Date) => {
      now = time;
    },
    async add(id: DeliveryId = newId('dlv', NOW)) {
      const delivery = aDelivery({ id, webhookId: endpoint.id, orgId: endpoint.orgId });
      await store.add(delivery);
      return delivery;
    },
    /** Asks for the turn of a message at once with `count - 1` others. */
    async ask(
      delivery: ReturnType<typeof aDelivery>,
      { count = 1, isAhead = false, parked = false, message = toDeliveryMessage(delivery) } = {},
    ) {
      const limited = {
        message: parked ? { ...message, waited: { since: now.getTime(), parked: true as const } } : message,
        maxPerSecond: 1,
        lane: 'fresh' as const,
      };
      const turns: Turn[] = await Promise.all(
        Array.from({ length: count }, () => (isAhead ? takeAhead : take)(limited)),
      );
      return turns;
    },
    /** Lets parked deliveries fill the line. */
    async extendLine(ms: number) {
      const [next, queued, parked] = [0, 300_000, ms].map((wait) => NOW.getTime() + wait);
      const set = { next: Number(next), queued: Number(queued), parked: Number(parked) };
      await ports.schedules.apply(endpoint.id, { rate: 1, restarts: true, when: {}, set, add: {} }, NOW);
    },
    found: (delivery: ReturnType<typeof aDelivery>) => store.find(delivery),
    async entries(state: 'parked' | 'watched') {
      const pages = await Promise.all(
        listShards(DUE_SHARDS).map((shard) => due.find(state, shard, later(NOW, 100 * 24 * HOUR))),
      );
      return pages.flatMap(({ entries }) => entries);
    },
  };
}

it('a delivery whose message was deferred does not expire in the line: its message is sent once more', async () => {
  const { add, ask, due, entries, found, log } = aLine();
  const old = await add(newId('dlv', new Date(NOW.getTime() - EXPIRY_SECONDS * 1000 - 1)));
  await due.watch(old, NOW);
  for (const entry of await entries('watched')) await due.postpone(entry, later(NOW, 60_000), 'deferred');
  await ask(await add(), { count: 400 });

  expect(await ask(old)).toEqual([{ kind: 'wait', disposition: { kind: 'delete' } }]);

  expect(await found(old)).toMatchObject({ status: 'pending', parked: true });
  expect(log.entries).toEqual([]);
  expect(await entries('parked')).toMatchObject([{ message: { id: old.id }, isDeferred: true }]);
});

it('two messages of one delivery have turns of their own', async () => {
  const { add, ask } = aLine();
  const starts = (await ask(await add(), { count: 2 })).map((turn) => turn.kind === 'start' && turn.at);

  expect(Number(starts[1]) - Number(starts[0])).toBeCloseTo(1000);
});

it('a worker whose clock is behind waits in its queue for the starts of one that is ahead, and parks nothing', async () => {
  const { add, ask, entries } = aLine(120);
  const delivery = await add();
  await ask(delivery, { isAhead: true });

  expect(await ask(delivery)).toMatchObject([{ kind: 'wait', disposition: { kind: 'move', lane: 'fresh' } }]);
  expect(await entries('parked')).toEqual([]);
});

it('a worker whose clock is behind gives a start when it shows the last one of the clock that is ahead', async () => {
  const { add, ask, setTime } = aLine();
  const delivery = await add();
  await ask(delivery, { isAhead: true });
  const [turn] = await ask(delivery);
  if (turn?.kind !== 'wait' || turn.disposition.kind !== 'move') throw new Error('it has a start too early');
  const { until, message } = turn.disposition;
  setTime(until);

  expect(await ask(delivery, message && { message })).toMatchObject([{ kind: 'start' }]);
  expect(until.getTime()).toBeLessThanOrEqual(later(NOW, seconds(60 + 1)).getTime());
});

it('a delivery comes back to the line a few times in three days, not every hour', async () => {
  const { add, ask, found, setTime, extendLine } = aLine();
  await extendLine(3 * 24 * HOUR);
  const delivery = await add();
  let times = 0;
  for (let parked = false; times < 100; parked = true) {
    const [turn] = await ask(delivery, { parked });
    if (turn?.kind !== 'wait' || turn.disposition.kind !== 'delete') break;
    times += 1;
    setTime(new Date((await found(delivery))?.nextRetryAt ?? NOW));
  }
  expect(times).toBeGreaterThan(3);
  expect(times).toBeLessThan(10);
});
