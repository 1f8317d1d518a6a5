import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import { committer } from '../../../functions/aws/transaction.ts';
import { deliveryStore } from '../../../functions/delivery/deliveries.ts';
import type { Delivery, Settlement } from '../../../functions/delivery/delivery.ts';
import { repeatDelivery } from '../../../functions/delivery/redelivery.ts';
import { arrivalStore, redeliveryMarks } from '../../../functions/delivery/redelivery-records.ts';
import { EVENT_DAYS } from '../../../functions/events/events.ts';
import type { Endpoint, EndpointOutcome } from '../../../functions/receivers/endpoint.ts';
import { keys } from '../../../functions/tenancy/keys.ts';
import { aDelivery, anEndpoint, later, NOW, seconds } from '../../builders.ts';
import { memoryTables } from '../../doubles/tables/stack-tables.ts';
import { dynamoDb, type TestTables } from '../../engines.ts';
import { claimed, ENDED, exhausted, LEASE_END, retryingIn, succeeded } from './attempts.ts';
import { conflictOnOverlap, loseNextAnswer, writesOf } from './faults.ts';
import { everyRow } from './rows.ts';
import { dynamoDbStores } from './stores.ts';

const engine = dynamoDb();
const KINDS: [name: string, make: () => Promise<TestTables>][] = [
  ['tables in memory', async () => memoryTables()],
  ['dynamodb', () => engine.tables()],
];

const buildOutcome = (endpoint: Endpoint, effect: EndpointOutcome['effect'] = 'none'): EndpointOutcome => ({
  endpoint,
  effect,
  at: ENDED,
});

/** An endpoint with a failed delivery, and a redelivery of it. */
async function setUp(tables: TestTables) {
  const stores = dynamoDbStores(tables);
  const endpoint = anEndpoint({ consecutiveFailures: 3 });
  await stores.endpoints.put(endpoint);
  const { orgId, id: webhookId } = endpoint;
  const failed = aDelivery({ orgId, webhookId, status: 'exhausted', attempts: 8 });
  await stores.deliveries.add(failed);
  const redelivery = (): Delivery => repeatDelivery(failed, newId('dlv', NOW), NOW, undefined);
  const arrived = () => arrivalStore(tables.service).of(failed, [failed.eventId]);
  return { stores, endpoint, failed, redelivery, arrived };
}

describe.each(KINDS)('the end of a redelivery (%s)', (_, make) => {
  it.each(['none', 'reset'] as const)(
    'is recorded as an arrival when it succeeds with the effect "%s" on the endpoint',
    async (effect) => {
      const tables = await make();
      const { stores, endpoint, failed, redelivery, arrived } = await setUp(tables);
      const claim = await claimed(stores, redelivery());

      expect(await stores.deliveries.settle(claim, succeeded, buildOutcome(endpoint, effect))).toBe('done');

      expect(await arrived()).toEqual(new Map([[failed.eventId, claim.id]]));
      expect(await stores.deliveries.find(claim)).toMatchObject({ status: 'succeeded' });
      expect((await stores.endpoints.find(endpoint.orgId, endpoint.id))?.consecutiveFailures).toBe(
        effect === 'reset' ? 0 : 3,
      );
      // No other delivery has the record.
      expect(await stores.deliveries.find(failed)).toEqual(failed);
      const row = [...(await everyRow(tables)).values()].find(({ sk }) => sk === 'arrived');
      expect(row).toEqual({
        ...keys.arrival(failed, failed.webhookId, failed.eventId),
        eventId: failed.eventId,
        deliveryId: claim.id,
        expiresAt: NOW.getTime() / 1000 + EVENT_DAYS * 86_400,
      });
    },
  );

  it.each<[string, Settlement]>([
    ['fails for good', exhausted],
    ['is to be tried again', retryingIn('hidden')],
  ])('is not recorded when it %s', async (_name, settlement) => {
    const { stores, endpoint, redelivery, arrived } = await setUp(await make());
    const claim = await claimed(stores, redelivery());
    expect(await stores.deliveries.settle(claim, settlement, buildOutcome(endpoint))).toBe('done');
    expect(await arrived()).toEqual(new Map());
  });

  it('is not recorded when its worker has lost it', async () => {
    const { stores, endpoint, redelivery, arrived } = await setUp(await make());
    const claim = await claimed(stores, redelivery());
    const late = { ...succeeded, at: LEASE_END };
    expect(await stores.deliveries.settle(claim, late, buildOutcome(endpoint))).toBe('refused');
    expect(await arrived()).toEqual(new Map());
  });

  it('is recorded once, by the first of several that arrive', async () => {
    const { stores, endpoint, failed, redelivery, arrived } = await setUp(await make());
    const [first, second] = [await claimed(stores, redelivery()), await claimed(stores, redelivery())];
    for (const claim of [first, second])
      expect(await stores.deliveries.settle(claim, succeeded, buildOutcome(endpoint))).toBe('done');
    expect(await arrived()).toEqual(new Map([[failed.eventId, first.id]]));
  });

  it('is recorded although the original delivery is gone', async () => {
    const { stores, endpoint, failed, redelivery, arrived } = await setUp(await make());
    const again = { ...redelivery(), redeliveryOf: newId('dlv', later(NOW, -seconds(60))) };
    const claim = await claimed(stores, again);
    await stores.deliveries.settle(claim, succeeded, buildOutcome(endpoint));
    expect(await arrived()).toEqual(new Map([[failed.eventId, claim.id]]));
  });

  it('is recorded for its own endpoint and generation only', async () => {
    const tables = await make();
    const { stores, endpoint, failed, redelivery } = await setUp(tables);
    await stores.deliveries.settle(await claimed(stores, redelivery()), succeeded, buildOutcome(endpoint));
    const { of } = arrivalStore(tables.service);
    const other = newId('evt', NOW);
    expect(await of({ ...failed, webhookId: newId('whk', NOW) }, [failed.eventId])).toEqual(new Map());
    expect(await of({ ...failed, generation: 1 }, [failed.eventId])).toEqual(new Map());
    expect(await of(failed, [other])).toEqual(new Map());
    expect((await of(failed, [other, failed.eventId])).size).toBe(1);
    expect(await of(failed, [])).toEqual(new Map());
  });
});

describe('the record of an arrival', () => {
  it('is not written for any other delivery', async () => {
    const client = engine.client();
    const { stores, endpoint } = await setUp(await engine.tables(client));
    const claim = await claimed(stores, { orgId: endpoint.orgId, webhookId: endpoint.id });
    const writes = writesOf(client);
    await stores.deliveries.settle(claim, succeeded, buildOutcome(endpoint));
    // A plain update of its row.
    expect(writes()).toEqual([]);
  });

  it('is written when redeliveries end together, and each of them ends', async () => {
    const client = engine.client();
    const { stores, endpoint, redelivery, arrived } = await setUp(await engine.tables(client));
    const claims = await Promise.all([1, 2, 3].map(() => claimed(stores, redelivery())));
    conflictOnOverlap(client);

    const settled = await Promise.all(
      claims.map(async (claim) => {
        const settle = () => stores.deliveries.settle(claim, succeeded, buildOutcome(endpoint));
        // As the dispatcher retries.
        for (let result = await settle(); ; result = await settle())
          if (result !== 'endpoint-changed') return result;
      }),
    );

    expect(settled).toEqual(['done', 'done', 'done']);
    expect((await arrived()).size).toBe(1);
  });

  it('is written once when its answer was lost', async () => {
    const client = engine.client();
    const { stores, endpoint, redelivery, arrived } = await setUp(await engine.tables(client));
    const claim = await claimed(stores, redelivery());
    const fault = loseNextAnswer(client, 'TransactWriteItemsCommand');
    expect(await stores.deliveries.settle(claim, succeeded, buildOutcome(endpoint))).toBe('done');
    expect(fault.lost()).toBe(true);
    expect((await arrived()).size).toBe(1);
  });
});

describe.each(KINDS)('the mark of a redelivery (%s)', (_, make) => {
  it('of a request replaces that of a job, which then cannot set its own', async () => {
    const { service } = await make();
    const marks = redeliveryMarks(service);
    const failed = aDelivery({ status: 'exhausted' });
    const again = () => repeatDelivery(failed, newId('dlv', NOW), NOW, undefined);
    const [ofJob, single, next] = [again(), again(), again()];

    const job = { id: newId('rdj', NOW) };
    expect(await marks.set(job, ofJob, undefined)).toBe(true);
    await committer(service.client)([marks.replacing(single)]);

    const [mark] = (await marks.of(failed, [failed.eventId])).values();
    expect(mark).toMatchObject({ deliveryId: single.id, jobDeliveryId: ofJob.id, redeliveryId: job.id });
    expect(await marks.set(job, next, ofJob.id)).toBe(false);
    expect(await marks.set(job, next, single.id)).toBe(true);
  });
});

describe.each(KINDS)('deliveries that wait for their first attempt (%s)', (_, make) => {
  it('are those that are pending, and those that cannot be read yet', async () => {
    const { deliveries } = await make();
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
