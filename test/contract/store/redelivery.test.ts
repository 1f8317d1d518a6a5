import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import { committer } from '../../../functions/aws/transaction.ts';
import type { Delivery } from '../../../functions/delivery/delivery.ts';
import {
  recordRedelivery,
  redeliveryRecords,
  repeatDelivery,
} from '../../../functions/delivery/redelivery.ts';
import { deliveryStore } from '../../../functions/delivery/rows.ts';
import type { Settlement } from '../../../functions/delivery/settle.ts';
import { EVENT_DAYS } from '../../../functions/events/events.ts';
import { keys } from '../../../functions/tenancy/keys.ts';
import { aDelivery, anEndpoint, NOW } from '../../builders.ts';
import { dynamoDb, type TestTables } from '../../engines.ts';
import { claimed, exhausted, LEASE_END, retryingIn, succeeded, TRACE } from './attempts.ts';
import { everyRow } from './rows.ts';
import { dynamoDbStores } from './stores.ts';

const engine = dynamoDb();
/** An endpoint with a failed delivery, and a redelivery of it. */
async function setUp(tables: TestTables, consecutiveFailures = 0) {
  const stores = dynamoDbStores(tables);
  const endpoint = anEndpoint({ consecutiveFailures });
  await stores.endpoints.put(endpoint);
  const { orgId, id: webhookId } = endpoint;
  const failed = aDelivery({ orgId, webhookId, status: 'exhausted', attempts: 8 });
  await stores.deliveries.add(failed);
  const redelivery = (): Delivery => repeatDelivery(failed, newId('dlv', NOW), NOW, undefined);
  /** The redelivery that the event's record says succeeded. */
  const succeededId = async () => {
    const [record] = await redeliveryRecords(tables.service)(failed, [failed]);
    return record?.succeededId;
  };
  return { stores, endpoint, failed, redelivery, succeededId };
}

describe('the end of a redelivery', () => {
  it.each([0, 3])(
    'is recorded when it succeeds at an endpoint after %i failures, which it resets',
    async (failures) => {
      const tables = await engine.tables();
      const { stores, endpoint, failed, redelivery, succeededId } = await setUp(tables, failures);
      const claim = await claimed(stores, redelivery());

      expect(await stores.deliveries.settle(claim, succeeded, TRACE)).toBe('done');

      expect(await succeededId()).toBe(claim.id);
      expect(await stores.deliveries.find(claim)).toMatchObject({ status: 'succeeded' });
      expect((await stores.endpoints.find(endpoint.orgId, endpoint.id))?.consecutiveFailures).toBe(0);
      // The failed delivery stays as it was.
      expect(await stores.deliveries.find(failed)).toEqual(failed);
      const row = [...(await everyRow(tables)).values()].find(({ sk }) => sk === 'redelivery');
      expect(row).toEqual({
        ...keys.redeliveryRecord(failed, failed.webhookId, failed.eventId),
        eventId: failed.eventId,
        webhookId: failed.webhookId,
        deliveryId: claim.id,
        succeededId: claim.id,
        expiresAt: NOW.getTime() / 1000 + EVENT_DAYS * 86_400,
      });
    },
  );

  it.each<[string, Settlement]>([
    ['fails for good', exhausted],
    ['is to be tried again', retryingIn('hidden')],
  ])('is not recorded when it %s', async (_name, settlement) => {
    const { stores, redelivery, succeededId } = await setUp(await engine.tables());
    const claim = await claimed(stores, redelivery());
    expect(await stores.deliveries.settle(claim, settlement, TRACE)).toBe('done');
    expect(await succeededId()).toBeUndefined();
  });

  it('is not recorded when its worker has lost it', async () => {
    const { stores, redelivery, succeededId } = await setUp(await engine.tables());
    const claim = await claimed(stores, redelivery());
    const late = { ...succeeded, at: LEASE_END };
    expect(await stores.deliveries.settle(claim, late, TRACE)).toBe('refused');
    expect(await succeededId()).toBeUndefined();
  });

  it('is recorded once, by the first of several that succeed', async () => {
    const { stores, redelivery, succeededId } = await setUp(await engine.tables());
    const [first, second] = [await claimed(stores, redelivery()), await claimed(stores, redelivery())];
    for (const claim of [first, second])
      expect(await stores.deliveries.settle(claim, succeeded, TRACE)).toBe('done');
    expect(await succeededId()).toBe(first.id);
  });

  it('is recorded for its own endpoint and generation only', async () => {
    const tables = await engine.tables();
    const { stores, failed, redelivery } = await setUp(tables);
    await stores.deliveries.settle(await claimed(stores, redelivery()), succeeded, TRACE);
    const find = redeliveryRecords(tables.service);
    const other = { eventId: newId('evt', NOW), webhookId: failed.webhookId };
    expect(await find(failed, [{ ...failed, webhookId: newId('whk', NOW) }])).toEqual([]);
    expect(await find({ ...failed, generation: 1 }, [failed])).toEqual([]);
    expect(await find(failed, [other])).toEqual([]);
    expect(await find(failed, [other, failed])).toHaveLength(1);
    expect(await find(failed, [])).toEqual([]);
  });
});

describe('the record of the latest redelivery', () => {
  it('names that of a user instead of a job’s, which then cannot record another one', async () => {
    const { service } = await engine.tables();
    const commit = committer(service.client);
    const failed = aDelivery({ status: 'exhausted' });
    const again = () => repeatDelivery(failed, newId('dlv', NOW), NOW, undefined);
    const [ofJob, single, next] = [again(), again(), again()];
    const job = { id: newId('rdj', NOW) };
    const record = (delivery: Delivery, deliveryId?: Delivery['id']) =>
      commit([recordRedelivery(service, delivery, { job, read: { deliveryId } })]);

    expect(await record(ofJob)).toEqual({ kind: 'committed' });
    await commit([recordRedelivery(service, single)]);

    expect(await redeliveryRecords(service)(failed, [failed])).toMatchObject([
      { deliveryId: single.id, jobDeliveryId: ofJob.id, redeliveryId: job.id },
    ]);
    expect(await record(next, ofJob.id)).toEqual({ kind: 'refused', refusal: 'redelivery-overtaken' });
    expect(await record(next, single.id)).toEqual({ kind: 'committed' });
  });
});

describe('deliveries that wait for their first attempt', () => {
  it('are those that are pending, and those that cannot be read yet', async () => {
    const { deliveries } = await engine.tables();
    const store = deliveryStore(deliveries);
    const webhookId = newId('whk', NOW);
    const all = (['pending', 'retrying', 'succeeded', 'exhausted', 'skipped'] as const).map((status) =>
      aDelivery({ webhookId, status }),
    );
    for (const delivery of all) await store.add(delivery);
    const unread = aDelivery({ webhookId });

    expect(await store.listWaiting([...all, unread])).toEqual([all[0], unread]);
  });
});
