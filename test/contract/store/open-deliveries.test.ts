import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import type { Delivery } from '../../../functions/delivery/delivery.ts';
import { openDeliveries } from '../../../functions/delivery/delivery-queries.ts';
import { aDelivery, anEvent, later, NOW, seconds } from '../../builders.ts';
import { dynamoDb } from '../../engines.ts';
import { putDeliveries } from './put-deliveries.ts';

const engine = dynamoDb();
const webhookId = newId('whk', NOW);
const minutesAgo = (minutes: number) => later(NOW, -seconds(60 * minutes));

const buildDelivery = (minutes: number, status: Delivery['status'], changes: Partial<Delivery> = {}) =>
  aDelivery({ eventId: anEvent({ now: minutesAgo(minutes) }).id, webhookId, status, ...changes });

const BUDGET = 200;

async function setUp(deliveries: readonly Delivery[]) {
  const client = engine.client();
  const { deliveries: table } = await engine.tables(client);
  await putDeliveries(table, deliveries);
  let examined = 0;
  client.middlewareStack.add((next) => async (args) => {
    const result = await next(args);
    examined += Number(Object(result.output).ScannedCount ?? 0);
    return result;
  });
  const open = openDeliveries(table);
  const { generation } = aDelivery();
  const time: [Date, Date] = [minutesAgo(60), NOW];
  return {
    examined: () => examined,
    read: async (which: 'oldest' | 'newest', budget = { units: BUDGET }) =>
      (await open({ webhookId, generation }, time, which, budget)).map(({ id }) => id).sort(),
  };
}

describe('the open deliveries to an endpoint', () => {
  it.each(['oldest', 'newest'] as const)(
    'are those without an end, of that endpoint and time (%s)',
    async (which) => {
      const open = [
        buildDelivery(50, 'retrying'),
        buildDelivery(30, 'pending'),
        buildDelivery(10, 'retrying'),
      ];
      const { read } = await setUp([
        ...open,
        buildDelivery(40, 'succeeded'),
        buildDelivery(40, 'exhausted'),
        buildDelivery(40, 'skipped'),
        buildDelivery(90, 'retrying'),
        buildDelivery(20, 'retrying', { webhookId: newId('whk', NOW) }),
        buildDelivery(20, 'retrying', { generation: 7 }),
      ]);
      expect(await read(which)).toEqual(open.map(({ id }) => id).sort());
    },
  );

  it('are found after hundreds that have ended, while the endpoint fails', async () => {
    const ended = Array.from({ length: 800 }, (_, index) => buildDelivery(59 - index / 100, 'exhausted'));
    const open = Array.from({ length: 40 }, (_, index) => buildDelivery(45 - index / 10, 'retrying'));
    const { read } = await setUp([...ended, ...open]);
    expect(await read('oldest')).toEqual(open.map(({ id }) => id).sort());
  });

  it('are found after thousands that have succeeded, with few reads', async () => {
    const before = Array.from({ length: 3000 }, (_, index) => buildDelivery(59 - index / 100, 'succeeded'));
    const outage = Array.from({ length: 400 }, (_, index) => buildDelivery(8 - index / 100, 'retrying'));
    const { read, examined } = await setUp([...before, ...outage]);
    expect((await read('newest')).length).toBe(200);
    expect(examined()).toBe(200);
  });

  it('are not searched beyond a number of rows', async () => {
    const all = Array.from({ length: 3000 }, (_, index) => buildDelivery(59 - index / 1000, 'exhausted'));
    const { read, examined } = await setUp(all);
    expect(await read('oldest')).toEqual([]);
    expect(examined()).toBe(1600);
  });

  it('are not searched when the budget is used up', async () => {
    const all = Array.from({ length: 100 }, (_, index) => buildDelivery(50 - index / 10, 'retrying'));
    const { read } = await setUp(all);
    const budget = { units: 1 };
    expect(await read('oldest', budget)).toHaveLength(100);
    expect(budget.units).toBeLessThan(0);
    expect(await read('oldest', budget)).toEqual([]);
  });
});
