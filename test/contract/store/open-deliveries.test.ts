import { describe, expect, it } from 'vitest';
import type { Delivery } from '../../../functions/domain/delivery.ts';
import { newId } from '../../../functions/domain/ids.ts';
import { openDeliveries } from '../../../functions/store/delivery-queries.ts';
import { keys } from '../../../functions/store/keys.ts';
import { aDelivery, anEvent, later, NOW, seconds } from '../../builders.ts';
import { dynamoDb } from '../../engines.ts';
import { putDeliveries } from './put-deliveries.ts';

const engine = dynamoDb();
const webhookId = newId('whk', NOW);
const minutesAgo = (minutes: number) => later(NOW, -seconds(60 * minutes));

const buildDelivery = (minutes: number, status: Delivery['status'], changes: Partial<Delivery> = {}) =>
  aDelivery({ eventId: anEvent({ now: minutesAgo(minutes) }).id, webhookId, status, ...changes });

async function setUp(deliveries: readonly Delivery[]) {
  const { deliveries: table } = await engine.tables();
  await putDeliveries(table, deliveries);
  const open = openDeliveries(table);
  return async (from: Date, wanted = 10) => {
    const { generation } = aDelivery();
    const found = await open({ webhookId, generation }, from, NOW, wanted, { units: 200 });
    return found.map(({ id }) => id).sort();
  };
}

describe('the oldest open deliveries to an endpoint', () => {
  it('are those without an end, of that endpoint and time', async () => {
    const open = [buildDelivery(50, 'retrying'), buildDelivery(30, 'pending'), buildDelivery(10, 'retrying')];
    const read = await setUp([
      ...open,
      buildDelivery(40, 'succeeded'),
      buildDelivery(40, 'exhausted'),
      buildDelivery(40, 'skipped'),
      buildDelivery(90, 'retrying'),
      buildDelivery(20, 'retrying', { webhookId: newId('whk', NOW) }),
      buildDelivery(20, 'retrying', { generation: 7 }),
    ]);
    expect(await read(minutesAgo(60))).toEqual(open.map(({ id }) => id).sort());
  });

  it('are the oldest ones up to a limit', async () => {
    const all = Array.from({ length: 400 }, (_, index) => buildDelivery(50 - index / 10, 'retrying'));
    const read = await setUp(all);
    const found = await read(minutesAgo(60));
    expect(found.length).toBeLessThanOrEqual(160);
    // More than the number of failures that disables an endpoint.
    const oldest = all.slice(0, 10).map(({ id }) => id);
    expect(found).toEqual(expect.arrayContaining(oldest));
  });

  it('are found after hundreds that have ended', async () => {
    const ended = Array.from({ length: 800 }, (_, index) => buildDelivery(59 - index / 100, 'exhausted'));
    const open = Array.from({ length: 40 }, (_, index) => buildDelivery(45 - index / 10, 'retrying'));
    const read = await setUp([...ended, ...open]);
    const oldest = open.slice(0, 10).map(({ id }) => id);
    expect(await read(minutesAgo(60))).toEqual(expect.arrayContaining(oldest));
  });

  it('are not searched beyond a number of rows', async () => {
    const client = engine.client();
    const { deliveries: table } = await engine.tables(client);
    const { generation } = aDelivery();
    const shardOf = ({ id }: Delivery) => keys.delivery(webhookId, generation, id).pk;
    const all = Array.from({ length: 5000 }, (_, index) => buildDelivery(59 - index / 1000, 'exhausted'));
    const shard = shardOf(all[0] ?? expect.fail());
    const ofOneShard = all.filter((delivery) => shardOf(delivery) === shard);
    expect(ofOneShard.length).toBeGreaterThan(500);
    await putDeliveries(table, ofOneShard);
    let examined = 0;
    client.middlewareStack.add((next) => async (args) => {
      const result = await next(args);
      examined += Number(Object(result.output).ScannedCount ?? 0);
      return result;
    });
    expect(
      await openDeliveries(table)({ webhookId, generation }, minutesAgo(60), NOW, 10, { units: 1000 }),
    ).toEqual([]);
    expect(examined).toBe(500);
  });

  it('are not searched when the budget is used up', async () => {
    const { deliveries: table } = await engine.tables();
    await putDeliveries(
      table,
      Array.from({ length: 100 }, (_, index) => buildDelivery(50 - index / 10, 'retrying')),
    );
    const budget = { units: 1 };
    const read = () => openDeliveries(table)({ webhookId, generation: 0 }, minutesAgo(60), NOW, 10, budget);
    // Every shard is read at least once, at any cost.
    expect((await read()).length).toBeLessThan(100);
    expect(budget.units).toBeLessThan(0);
    expect(await read()).toEqual([]);
  });
});
