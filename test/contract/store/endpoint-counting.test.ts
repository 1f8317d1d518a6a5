import { describe, expect, it } from 'vitest';
import { attemptDelivery } from '../../../functions/delivery/attempt.ts';
import type {
  Delivery,
  DeliveryMessage,
  SendAttempt,
  Settlement,
} from '../../../functions/delivery/delivery.ts';
import { DEFAULT_RETRY_POLICY } from '../../../functions/delivery/timing.ts';
import { createReceiverNotice, type Notice } from '../../../functions/events/bus.ts';
import { timedOutAfter } from '../../../functions/receivers/attempt-error.ts';
import type { Endpoint } from '../../../functions/receivers/endpoint.ts';
import { aDelivery, anEndpoint, anEvent, NOW } from '../../builders.ts';
import { noMeasures } from '../../doubles/no-measures.ts';
import { recordedLog } from '../../doubles/recorded-log.ts';
import { dynamoDb } from '../../engines.ts';
import { conflictOnOverlap } from './faults.ts';
import { dynamoDbStores, type Stores, storeKinds } from './stores.ts';

const engine = dynamoDb();
const terms = { retry: DEFAULT_RETRY_POLICY, leaseSeconds: 25, attemptSeconds: 10 };
const answers = {
  failing: { status: 500, error: 'the receiver answered 500', errorCode: 'http_status' },
  succeeding: { status: 204 },
} as const;

/** The notice for the admins of an endpoint that was disabled at `NOW`. */
const buildNotice = ({ orgId, id }: Endpoint): Notice =>
  createReceiverNotice(
    'webhook.disabled',
    { webhookId: id, lastError: answers.failing.error },
    { tenant: { orgId, generation: 0 }, now: NOW },
  );

/** Deliveries to an endpoint, each with one attempt left. */
async function owed({ deliveries }: Stores, endpoint: Endpoint, count: number): Promise<Delivery[]> {
  const made = Array.from({ length: count }, () =>
    aDelivery({ orgId: endpoint.orgId, webhookId: endpoint.id, attempts: 7 }),
  );
  await Promise.all(made.map((delivery) => deliveries.add(delivery)));
  return made;
}

/**
 * Dispatches all deliveries so that their attempts end at the same time; every worker has read the endpoint
 * before.
 */
async function dispatchAll(
  stores: Stores,
  endpoint: Endpoint,
  deliveryMessages: DeliveryMessage[],
  answer: keyof typeof answers,
) {
  const log = recordedLog();
  const event = anEvent();
  const allUnderWay = barrier(deliveryMessages.length);
  const attempt: SendAttempt = async () => {
    await allUnderWay();
    return answers[answer];
  };
  const queues = { crowded: async () => false };
  const processMessage = attemptDelivery(
    {
      ...stores,
      queues,
      prepare: async () => attempt,
      takeTurn: async () => ({ kind: 'start', at: 0, attempts: 0 }),
      measures: noMeasures,
      log,
      now: () => NOW,
      wait: async () => undefined,
    },
    terms,
  );
  await Promise.all(
    deliveryMessages.map((deliveryMessage) => processMessage(deliveryMessage, { endpoint, event }, 'retry')),
  );
  return { disabled: log.entries.filter(({ level }) => level === 'warn').length };
}

/** Holds all callers until so many have come. */
function barrier(parties: number): () => Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let missing = parties;
  return () => {
    missing -= 1;
    if (missing === 0) resolve();
    return promise;
  };
}

describe.each(storeKinds(engine))('the count of failed deliveries at their endpoint (%s)', (_, make) => {
  async function setUp(changes: Partial<Endpoint> = {}) {
    const stores = await make();
    const endpoint = anEndpoint(changes);
    await stores.endpoints.put(endpoint);
    const find = () => stores.endpoints.find(endpoint.orgId, endpoint.id);
    return { stores, endpoint, find };
  }

  it('disables the endpoint exactly once when ten deliveries are exhausted at the same time', async () => {
    const { stores, endpoint, find } = await setUp();
    const deliveries = await owed(stores, endpoint, 10);

    expect(await dispatchAll(stores, endpoint, deliveries, 'failing')).toEqual({ disabled: 1 });

    expect(await find()).toEqual({
      ...endpoint,
      status: 'auto_disabled',
      consecutiveFailures: 10,
      failingSince: NOW.toISOString(),
      disabledAt: NOW.toISOString(),
      disabledReason: 'consecutive_failures',
    });
    expect(await stores.notices()).toEqual([buildNotice(endpoint)]);
    expect(await stores.warnings()).toMatchObject([{ data: { webhookId: endpoint.id } }]);
    for (const delivery of deliveries)
      expect(await stores.deliveries.find(delivery)).toMatchObject({ status: 'exhausted', attempts: 8 });
  });

  it('leaves the endpoint active after nine', async () => {
    const { stores, endpoint, find } = await setUp();

    const result = await dispatchAll(stores, endpoint, await owed(stores, endpoint, 9), 'failing');

    expect(result).toEqual({ disabled: 0 });
    expect(await find()).toEqual({
      ...endpoint,
      consecutiveFailures: 9,
      failingSince: NOW.toISOString(),
    });
    expect(await stores.notices()).toEqual([]);
  });

  it('warns once in a streak, at the fifth failure', async () => {
    const { stores, endpoint } = await setUp();
    const fail = async (count: number) =>
      dispatchAll(stores, endpoint, await owed(stores, endpoint, count), 'failing');
    const countWarnings = async () => (await stores.warnings()).length;

    await fail(4);
    expect(await countWarnings()).toBe(0);
    await fail(5);
    expect(await countWarnings()).toBe(1);
    await dispatchAll(stores, endpoint, await owed(stores, endpoint, 1), 'succeeding');
    await fail(4);
    expect(await countWarnings()).toBe(1);
  });

  it('stops when the endpoint is disabled', async () => {
    const { stores, endpoint, find } = await setUp();
    const deliveries = await owed(stores, endpoint, 15);

    expect(await dispatchAll(stores, endpoint, deliveries, 'failing')).toEqual({ disabled: 1 });

    expect(await find()).toMatchObject({ status: 'auto_disabled', consecutiveFailures: 10 });
    expect(await stores.notices()).toEqual([buildNotice(endpoint)]);
    for (const delivery of deliveries)
      expect(await stores.deliveries.find(delivery)).toMatchObject({ status: 'exhausted' });
  });

  it('starts again at zero after a success', async () => {
    const { stores, endpoint, find } = await setUp({ consecutiveFailures: 9 });
    const [success] = await owed(stores, endpoint, 1);

    await dispatchAll(stores, endpoint, success ? [success] : [], 'succeeding');
    expect(await find()).toEqual({ ...endpoint, consecutiveFailures: 0 });

    const counted = await dispatchAll(stores, endpoint, await owed(stores, endpoint, 9), 'failing');
    expect(counted).toEqual({ disabled: 0 });
    expect(await find()).toMatchObject({ status: 'active', consecutiveFailures: 9 });
  });

  it('is zero after many successes at once, all of which are settled', async () => {
    const { stores, endpoint, find } = await setUp({ consecutiveFailures: 5 });
    const deliveries = await owed(stores, endpoint, 20);

    await dispatchAll(stores, endpoint, deliveries, 'succeeding');

    expect(await find()).toMatchObject({ consecutiveFailures: 0 });
    for (const delivery of deliveries)
      expect(await stores.deliveries.find(delivery)).toMatchObject({ status: 'succeeded' });
  });

  it.each(['failing', 'succeeding'] as const)(
    'leaves a disabled endpoint unchanged when attempts in progress end %s',
    async (answer) => {
      const disabled = {
        status: 'auto_disabled',
        consecutiveFailures: 10,
        disabledAt: NOW.toISOString(),
      } as const;
      const { stores, endpoint, find } = await setUp(disabled);
      const before: Endpoint = { ...endpoint, status: 'active', consecutiveFailures: 3 };

      const result = await dispatchAll(stores, before, await owed(stores, endpoint, 3), answer);

      expect(result).toEqual({ disabled: 0 });
      expect(await find()).toEqual(endpoint);
    },
  );

  it.each(['failing', 'succeeding'] as const)(
    'does not restore a deleted endpoint when attempts in progress end %s',
    async (answer) => {
      const { stores, endpoint, find } = await setUp({ consecutiveFailures: 3 });
      const deliveries = await owed(stores, endpoint, 3);
      await stores.endpoints.remove(endpoint.orgId, endpoint.id);

      await dispatchAll(stores, endpoint, deliveries, answer);

      expect(await find()).toBeUndefined();
      for (const delivery of deliveries)
        expect((await stores.deliveries.find(delivery))?.terminalAt).toBe(NOW.toISOString());
    },
  );

  it.each([
    ['reset', 'auto_disabled', 3],
    ['count', 'active', 9],
    ['count', 'auto_disabled', 3],
    ['disable', 'active', 8],
    ['disable', 'auto_disabled', 9],
  ] as const)(
    'refuses the effect "%s" on an endpoint that is %s after %i failures',
    async (effect, status, consecutiveFailures) => {
      const { stores, endpoint, find } = await setUp({ status, consecutiveFailures });
      const [delivery] = await owed(stores, endpoint, 1);
      if (delivery === undefined) throw new Error('a delivery was to be made');
      const claim = await stores.deliveries.claim(delivery, { now: NOW, leaseSeconds: 25, maxAttempts: 8 });
      if (claim.kind !== 'claimed') throw new Error(`the claim found the delivery ${claim.kind}`);
      const attempt = { number: 8, startedAt: NOW.toISOString(), durationMs: 1, ...timedOutAfter(10_000) };
      const settlement: Settlement = { kind: 'exhausted', attempt, at: NOW, terminalReason: 'max_attempts' };

      const result = await stores.deliveries.settle(claim.delivery, settlement, {
        endpoint,
        effect,
        at: NOW,
      });

      expect(result).toBe('endpoint-changed');
      expect(await find()).toEqual(endpoint);
    },
  );
});

describe('the count of failed deliveries during transaction conflicts', () => {
  async function withConflicts() {
    const client = engine.client();
    const stores = dynamoDbStores(await engine.tables(client));
    return { stores, conflicts: conflictOnOverlap(client) };
  }

  it('disables the endpoint exactly once, at ten, and ends every delivery', async () => {
    const { stores, conflicts } = await withConflicts();
    const endpoint = anEndpoint();
    await stores.endpoints.put(endpoint);
    const deliveries = await owed(stores, endpoint, 30);

    expect(await dispatchAll(stores, endpoint, deliveries, 'failing')).toEqual({ disabled: 1 });

    expect(conflicts.count()).toBeGreaterThan(0);
    expect(await stores.endpoints.find(endpoint.orgId, endpoint.id)).toMatchObject({
      status: 'auto_disabled',
      consecutiveFailures: 10,
    });
    expect(await stores.notices()).toEqual([buildNotice(endpoint)]);
    for (const delivery of deliveries)
      expect(await stores.deliveries.find(delivery)).toMatchObject({ status: 'exhausted', attempts: 8 });
  });

  it('is zero after fifty successes at once, all of which are recorded', async () => {
    const { stores, conflicts } = await withConflicts();
    const endpoint = anEndpoint({ consecutiveFailures: 5 });
    await stores.endpoints.put(endpoint);
    const deliveries = await owed(stores, endpoint, 50);

    await dispatchAll(stores, endpoint, deliveries, 'succeeding');

    expect(conflicts.count()).toBeGreaterThan(0);
    expect(await stores.endpoints.find(endpoint.orgId, endpoint.id)).toMatchObject({
      consecutiveFailures: 0,
    });
    for (const delivery of deliveries)
      expect(await stores.deliveries.find(delivery)).toMatchObject({ status: 'succeeded', attempts: 8 });
  });
});
