import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/domain/ids.ts';
import type { Tenant } from '../../../functions/domain/tenant.ts';
import {
  deliveryRanges,
  filteredDeliveries,
  openDeliveries,
  waitingDeliveries,
} from '../../../functions/store/delivery-queries.ts';
import { usageReader } from '../../../functions/store/usage.ts';
import { aDelivery, later, NOW, seconds } from '../../builders.ts';
import { dynamoDb, type TestTables } from '../../engines.ts';
import { putDeliveries } from './put-deliveries.ts';

const engine = dynamoDb();
const { webhookId, orgId, generation } = aDelivery();
const ref = { webhookId, generation };
const tenant: Tenant = { orgId, generation };

/**
 * What reads the rows of a time, each with a time that ends before it begins. DynamoDB refuses to be asked
 * that.
 */
const READERS: Record<string, (tables: TestTables, from: Date, to: Date) => Promise<unknown>> = {
  'since when deliveries wait': ({ deliveries }, from, to) =>
    waitingDeliveries(deliveries)(ref, from, to, { units: 1000 }),
  'open deliveries': ({ deliveries }, from, to) =>
    openDeliveries(deliveries)(ref, from, to, 10, { units: 1000 }),
  'deliveries of a job': async ({ deliveries }, from, to) =>
    (await deliveryRanges(deliveries)(ref, { from, to }, undefined, 10)).items,
  'a filtered list': async ({ deliveries }, from, to) =>
    (await filteredDeliveries(deliveries)(tenant, webhookId, { limit: 10 }, { from, to })).items,
  usage: async ({ usage }, from, to) => [
    ...(await usageReader(usage)(orgId, { from: monthOf(from), to: monthOf(to) })),
  ],
};
const monthOf = (time: Date) => time.toISOString().slice(0, 7);

describe('a time that ends before it begins', () => {
  // As in the first minute of an hour, when what is a minute old is of the hour before.
  it.each(Object.entries(READERS))('has nothing in it, for %s', async (_, read) => {
    const tables = await engine.tables();
    await putDeliveries(tables.deliveries, [aDelivery({ id: newId('dlv', NOW), ...tenant, webhookId })]);
    const found = await read(tables, later(NOW, seconds(30)), later(NOW, -seconds(86_400 * 40)));
    expect(found ?? []).toEqual([]);
  });
});
