import { describe, expect, it } from 'vitest';
import type { Delivery } from '../../../functions/domain/delivery.ts';
import { newId } from '../../../functions/domain/ids.ts';
import { waitingDeliveries } from '../../../functions/store/delivery-queries.ts';
import { aDelivery, anEvent, later, NOW, seconds } from '../../builders.ts';
import { dynamoDb } from '../../engines.ts';
import { putDeliveries } from './put-deliveries.ts';

const engine = dynamoDb();
const webhookId = newId('whk', NOW);
const ago = (count: number) => later(NOW, -seconds(count));

const buildDelivery = (secondsAgo: number, status: Delivery['status'], changes: Partial<Delivery> = {}) =>
  aDelivery({
    eventId: anEvent({ now: ago(secondsAgo) }).id,
    createdAt: ago(secondsAgo).toISOString(),
    webhookId,
    status,
    ...changes,
  });

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
  const waiting = waitingDeliveries(table);
  const { generation } = aDelivery();
  return {
    since: (from: Date, to: Date) =>
      waiting({ webhookId, generation }, { from, to, now: NOW }, { units: 1000 }),
    examined: () => examined,
  };
}

describe('the time since when a delivery to an endpoint waits', () => {
  it('is that of the oldest open delivery, of that endpoint and time', async () => {
    const { since } = await setUp([
      buildDelivery(900, 'succeeded'),
      buildDelivery(800, 'retrying', { webhookId: newId('whk', NOW) }),
      buildDelivery(700, 'retrying', { generation: 7 }),
      buildDelivery(600, 'exhausted'),
      buildDelivery(500, 'retrying'),
      buildDelivery(400, 'pending'),
      buildDelivery(300, 'skipped'),
    ]);
    expect(await since(ago(3600), ago(60))).toBe(ago(500).toISOString());
    expect(await since(ago(450), ago(60))).toBe(ago(400).toISOString());
  });

  it('is absent while open deliveries are younger', async () => {
    const { since } = await setUp([buildDelivery(120, 'succeeded'), buildDelivery(30, 'pending')]);
    expect(await since(ago(3600), ago(60))).toBeNull();
  });

  it('is that of a younger one whose attempt has failed', async () => {
    const { since } = await setUp([
      buildDelivery(120, 'succeeded'),
      buildDelivery(30, 'pending'),
      buildDelivery(10, 'retrying'),
      buildDelivery(5, 'retrying'),
    ]);
    expect(await since(ago(3600), ago(60))).toBe(ago(10).toISOString());
  });

  it('is found after hundreds that have succeeded, with few reads', async () => {
    const before = Array.from({ length: 800 }, (_, index) => buildDelivery(3000 - index, 'succeeded'));
    const outage = Array.from({ length: 400 }, (_, index) => buildDelivery(500 - index, 'retrying'));
    const { since, examined } = await setUp([...before, ...outage]);
    const found = Date.parse((await since(ago(3600), ago(60))) ?? '');
    expect(found).toBeGreaterThanOrEqual(ago(500).getTime());
    expect(found).toBeLessThan(ago(100).getTime());
    expect(examined()).toBeLessThanOrEqual(80);
  });
});
