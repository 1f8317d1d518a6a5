import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import { openDeliveries } from '../../../functions/delivery/delivery-queries.ts';
import { deliveryStore } from '../../../functions/delivery/rows.ts';
import { usageReader } from '../../../functions/events/usage.ts';
import type { Tenant } from '../../../functions/tenancy/tenant.ts';
import { aDelivery, later, NOW, seconds } from '../../builders.ts';
import { dynamoDb, type TestTables } from '../../engines.ts';
import { putDeliveries } from './put-deliveries.ts';

const engine = dynamoDb();
const { webhookId, orgId, generation } = aDelivery();
const ref = { webhookId, generation };
const tenant: Tenant = { orgId, generation };

/** Reads of a time span, each with an end before its start, which DynamoDB would refuse in a query. */
const READERS: Record<string, (tables: TestTables, from: Date, to: Date) => Promise<unknown>> = {
  'open deliveries': ({ deliveries }, from, to) =>
    openDeliveries(deliveries)(ref, [from, to], 'oldest', { units: 1000 }),
  'a filtered list': async ({ deliveries }, from, to) =>
    (await deliveryStore(deliveries).list(tenant, webhookId, { limit: 10 }, { from, to })).items,
  usage: async ({ usage }, from, to) => [
    ...(await usageReader(usage)(orgId, { from: toMonth(from), to: toMonth(to) })),
  ],
};
const toMonth = (time: Date) => time.toISOString().slice(0, 7);

describe('a time span that ends before it starts', () => {
  // As in the first minute of an hour, when the time a minute ago is in the hour before.
  it.each(Object.entries(READERS))('is empty for %s', async (_, read) => {
    const tables = await engine.tables();
    await putDeliveries(tables.deliveries, [aDelivery({ id: newId('dlv', NOW), ...tenant, webhookId })]);
    const result = await read(tables, later(NOW, seconds(30)), later(NOW, -seconds(86_400 * 40)));
    expect(result ?? []).toEqual([]);
  });
});
