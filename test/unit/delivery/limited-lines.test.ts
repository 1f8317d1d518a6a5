import { expect, it } from 'vitest';
import { type DeliveryId, newId } from '../../../functions/aws/ids.ts';
import { toDeliveryMessage } from '../../../functions/delivery/delivery.ts';
import { dueIndex } from '../../../functions/delivery/due-index.ts';
import { deliveryMoves, deliveryStore } from '../../../functions/delivery/rows.ts';
import { EXPIRY_SECONDS } from '../../../functions/delivery/timing.ts';
import { endpointTurns, rateScheduleStore } from '../../../functions/delivery/turns.ts';
import { DUE_SHARDS, listShards } from '../../../functions/tenancy/keys.ts';
import { aDelivery, anEndpoint, later, NOW } from '../../builders.ts';
import { recordedLog } from '../../doubles/recorded-log.ts';
import { memoryTables } from '../../doubles/tables/stack-tables.ts';

const HOUR = 3_600_000;
const at = NOW.getTime();
const PARKED = [{ kind: 'wait', disposition: { kind: 'delete' } }];

/** The line of an endpoint with one attempt a second, over tables in memory. */
function aLine() {
  const tables = memoryTables();
  const endpoint = anEndpoint({ maxPerSecond: 1 });
  let now = NOW;
  const store = {
    ...deliveryStore(tables.deliveries),
    ...deliveryMoves(tables.deliveries),
  };
  const log = recordedLog();
  const schedules = rateScheduleStore(tables.rates);
  const take = endpointTurns({ schedules, deliveries: store, log, now: () => now });
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
    /** Asks for the turns of messages, all at once. */
    ask: (deliveries: readonly ReturnType<typeof aDelivery>[], { maxPerSecond = 1 } = {}) =>
      Promise.all(
        deliveries.map((delivery) =>
          take({ message: toDeliveryMessage(delivery), maxPerSecond, lane: 'fresh' }),
        ),
      ),
    /** Gives away the times of the next milliseconds. */
    async extendLine(ms: number) {
      const seen = await schedules.find(endpoint.id);
      await schedules.take(endpoint.id, { seen, rate: 1, count: ms / 1000, now: () => now });
    },
    readDelivery: (delivery: ReturnType<typeof aDelivery>) => store.find(delivery),
    async entries(state: 'parked' | 'watched') {
      const pages = await Promise.all(
        listShards(DUE_SHARDS).map((shard) => due.find(state, shard, later(NOW, 100 * 24 * HOUR))),
      );
      return pages.flatMap(({ entries }) => entries);
    },
  };
}

it('a delivery keeps its turn, for which its message comes back, and takes no other one', async () => {
  const { add, ask, readDelivery, setTime } = aLine();
  const deliveries = [await add(), await add(), await add()];
  const [first, ...waiting] = await ask(deliveries);
  const until = (ms: number) => later(NOW, ms - 950);

  expect(first).toMatchObject({ kind: 'start', at, attempts: 0 });
  expect(waiting).toEqual([
    { kind: 'wait', disposition: { kind: 'move', lane: 'fresh', until: until(1000) } },
    { kind: 'wait', disposition: { kind: 'move', lane: 'fresh', until: until(2000) } },
  ]);
  const [, , last = deliveries[0]] = deliveries;
  expect(await readDelivery(last ?? (await add()))).toMatchObject({
    status: 'pending',
    attempts: 0,
    nextRetryAt: until(2000).toISOString(),
  });
  // Another message of it comes early.
  expect(await ask(deliveries.slice(2))).toEqual([
    { kind: 'wait', disposition: { kind: 'keep', until: until(2000) } },
  ]);
  setTime(until(3999));
  expect(await ask(deliveries.slice(2))).toMatchObject([{ kind: 'start', at: at + 2000 }]);
});

it('a delivery that comes later than two seconds takes another turn, and may come later for that', async () => {
  const { add, ask, setTime, extendLine } = aLine();
  await extendLine(1000);
  const delivery = await add();
  await ask([delivery]);
  setTime(later(NOW, 3000));
  await extendLine(10_000);

  const [again] = await ask([delivery]);
  const until = later(NOW, 13_000 - 950);
  expect(again).toEqual({ kind: 'wait', disposition: { kind: 'move', lane: 'fresh', until } });
  setTime(later(until, 5000));
  expect(await ask([delivery])).toMatchObject([{ kind: 'start', at: at + 13_000 }]);
});

it('turns of another limit are void, and a delivery that has none any more needs none', async () => {
  const { add, ask, setTime, extendLine } = aLine();
  await extendLine(10_000);
  const delivery = await add();
  await ask([delivery]);
  await ask([await add()], { maxPerSecond: 5 });
  setTime(later(NOW, 10_000));

  expect(await ask([delivery], { maxPerSecond: 5 })).toMatchObject([{ kind: 'start', at: at + 10_000 }]);
  expect(await ask([delivery])).toMatchObject([{ kind: 'wait' }]);
});

it('messages of deliveries that cannot be attempted take no turn', async () => {
  const { add, ask } = aLine();
  const gone = aDelivery();

  expect(await ask([gone, await add()])).toMatchObject([...PARKED, { kind: 'start', at }]);
});

it('a delivery whose turn is more than five minutes ahead is parked, and due shortly before it', async () => {
  const { add, ask, readDelivery, entries, extendLine } = aLine();
  await extendLine(400_000);
  const delivery = await add();

  expect(await ask([delivery])).toEqual(PARKED);
  const dueAt = later(NOW, 400_000 - 950).toISOString();
  expect(await readDelivery(delivery)).toMatchObject({ status: 'pending', parked: true, nextRetryAt: dueAt });
  expect(await entries('parked')).toMatchObject([{ message: { id: delivery.id }, dueAt }]);
});

it('a delivery that is 3 days old ends instead of being parked', async () => {
  const { add, ask, readDelivery, log, extendLine } = aLine();
  await extendLine(400_000);
  const old = await add(newId('dlv', new Date(at - EXPIRY_SECONDS * 1000 - 1)));

  expect(await ask([old])).toEqual(PARKED);
  expect(await readDelivery(old)).toMatchObject({ status: 'skipped', terminalReason: 'expired' });
  expect(log.entries).toMatchObject([{ code: 'TURN_NEVER_CAME' }]);
});

it('a delivery whose message was deferred does not expire in the line: its message is sent once more', async () => {
  const { add, ask, due, entries, readDelivery, log, extendLine } = aLine();
  await extendLine(400_000);
  const old = await add(newId('dlv', new Date(at - EXPIRY_SECONDS * 1000 - 1)));
  await due.watch(old, NOW);
  for (const entry of await entries('watched')) await due.postpone(entry, later(NOW, 60_000), 'deferred');

  expect(await ask([old])).toEqual(PARKED);
  expect(await readDelivery(old)).toMatchObject({ status: 'pending', parked: true });
  expect(log.entries).toEqual([]);
  expect(await entries('parked')).toMatchObject([{ message: { id: old.id }, isDeferred: true }]);
});

it('a delivery comes back to the line a few times in three days, not every hour', async () => {
  const { add, ask, readDelivery, setTime, extendLine } = aLine();
  await extendLine(3 * 24 * HOUR);
  const delivery = await add();
  let times = 0;
  for (; times < 100; times += 1) {
    const [outcome] = await ask([delivery]);
    if (outcome?.kind === 'start') break;
    setTime(new Date((await readDelivery(delivery))?.nextRetryAt ?? NOW));
  }
  expect(times).toBeGreaterThan(3);
  expect(times).toBeLessThan(10);
});
