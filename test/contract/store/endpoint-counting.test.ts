import { describe, expect, it } from 'vitest';
import { put } from '../../../functions/aws/table.ts';
import { committer } from '../../../functions/aws/transaction.ts';
import type { Delivery, DeliveryMessage, SendAttempt } from '../../../functions/delivery/delivery.ts';
import { outboxStore } from '../../../functions/delivery/outbox.ts';
import { createReceiverNotice, type Notice } from '../../../functions/events/bus.ts';
import type { Endpoint } from '../../../functions/receivers/endpoint.ts';
import { keys } from '../../../functions/tenancy/keys.ts';
import { aDelivery, anEndpoint, anEvent, aTenant, NOW } from '../../builders.ts';
import { memoryOrganizationStates } from '../../doubles/memory-organization-states.ts';
import { recordedLog } from '../../doubles/recorded-log.ts';
import { dynamoDb } from '../../engines.ts';
import { conflictOnOverlap } from './faults.ts';
import { aDispatcher, dynamoDbStores, newStores, type Stores } from './stores.ts';

const engine = dynamoDb();
const make = newStores(engine);
const answers = {
  failing: { status: 500, error: 'the receiver answered 500', errorCode: 'http_status' },
  succeeding: { status: 204 },
} as const;

/** The notice for the admins of an endpoint that was disabled at `NOW`. */
const buildNotice = ({ orgId, id }: Endpoint): Notice =>
  createReceiverNotice(
    'webhook.disabled',
    { webhookId: id, lastError: answers.failing.error, lastErrorCode: answers.failing.errorCode },
    { tenant: { orgId, generation: 0 }, now: NOW },
  );

/** Deliveries of events to an endpoint, each with one attempt left. */
async function owed(
  { deliveries, tables: { outbox } }: Stores,
  { orgId, id: webhookId }: Endpoint,
  count: number,
): Promise<Delivery[]> {
  const events = Array.from({ length: count }, () => anEvent({ tenant: aTenant({ orgId }) }));
  await committer(outbox.client)(events.map((event) => outboxStore(outbox).append(event)));
  const made = events.map(({ id }) => aDelivery({ orgId, webhookId, eventId: id, attempts: 7 }));
  await Promise.all(made.map((delivery) => deliveries.add(delivery)));
  return made;
}

/**
 * Dispatches all deliveries so that their attempts end at the same time; every worker has read the endpoint
 * before.
 * @param meanwhile changes the endpoint during the attempts
 * @returns the codes of the log's warnings and errors
 */
async function dispatchAll(
  { tables }: Stores,
  deliveries: DeliveryMessage[],
  answer: keyof typeof answers,
  meanwhile: () => Promise<unknown> = async () => undefined,
): Promise<string[]> {
  const log = recordedLog();
  const allUnderWay = barrier(deliveries.length, meanwhile);
  const send: SendAttempt = async () => {
    await allUnderWay();
    return answers[answer];
  };
  const organizations = memoryOrganizationStates();
  const run = aDispatcher(tables, { organizations, prepareSend: async () => send, log, now: () => NOW });
  const messages = deliveries.map((message) => ({ message, receiptHandle: message.id }));
  expect(await run('slow', messages)).toEqual([]);
  return log.trouble().map(({ code }) => code);
}

/** Holds all callers until so many have come and the action is done. */
function barrier(parties: number, action: () => Promise<unknown>): () => Promise<unknown> {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  let missing = parties;
  return () => {
    missing -= 1;
    if (missing === 0) resolve(action());
    return promise;
  };
}

describe('the count of failed deliveries at their endpoint', () => {
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

    expect(await dispatchAll(stores, deliveries, 'failing')).toEqual(['ENDPOINT_DISABLED']);

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

    const result = await dispatchAll(stores, await owed(stores, endpoint, 9), 'failing');

    expect(result).toEqual([]);
    expect(await find()).toEqual({
      ...endpoint,
      consecutiveFailures: 9,
      failingSince: NOW.toISOString(),
    });
    expect(await stores.notices()).toEqual([]);
  });

  it('warns once in a streak, at the fifth failure', async () => {
    const { stores, endpoint } = await setUp();
    const fail = async (count: number) => dispatchAll(stores, await owed(stores, endpoint, count), 'failing');
    const countWarnings = async () => (await stores.warnings()).length;

    await fail(4);
    expect(await countWarnings()).toBe(0);
    await fail(5);
    expect(await countWarnings()).toBe(1);
    await dispatchAll(stores, await owed(stores, endpoint, 1), 'succeeding');
    await fail(4);
    expect(await countWarnings()).toBe(1);
  });

  it('stops when the endpoint is disabled', async () => {
    const { stores, endpoint, find } = await setUp();
    const deliveries = await owed(stores, endpoint, 15);

    expect(await dispatchAll(stores, deliveries, 'failing')).toEqual(['ENDPOINT_DISABLED']);

    expect(await find()).toMatchObject({ status: 'auto_disabled', consecutiveFailures: 10 });
    expect(await stores.notices()).toEqual([buildNotice(endpoint)]);
    for (const delivery of deliveries)
      expect(await stores.deliveries.find(delivery)).toMatchObject({ status: 'exhausted' });
  });

  it('starts again at zero after a success', async () => {
    const { stores, endpoint, find } = await setUp({ consecutiveFailures: 9 });
    const [success] = await owed(stores, endpoint, 1);

    await dispatchAll(stores, success ? [success] : [], 'succeeding');
    expect(await find()).toEqual({ ...endpoint, consecutiveFailures: 0 });

    const counted = await dispatchAll(stores, await owed(stores, endpoint, 9), 'failing');
    expect(counted).toEqual([]);
    expect(await find()).toMatchObject({ status: 'active', consecutiveFailures: 9 });
  });

  it('is zero after many successes at once, all of which are settled', async () => {
    const { stores, endpoint, find } = await setUp({ consecutiveFailures: 5 });
    const deliveries = await owed(stores, endpoint, 20);

    await dispatchAll(stores, deliveries, 'succeeding');

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
      const { stores, endpoint, find } = await setUp({ consecutiveFailures: 3 });
      const { tables } = stores;
      const row = { ...keys.endpoint(endpoint.orgId, endpoint.id), ...endpoint, ...disabled };
      const disable = () => put(tables.service, row);

      expect(await dispatchAll(stores, await owed(stores, endpoint, 3), answer, disable)).toEqual([]);

      expect(await find()).toEqual({ ...endpoint, ...disabled });
    },
  );

  it.each(['failing', 'succeeding'] as const)(
    'does not restore a deleted endpoint when attempts in progress end %s',
    async (answer) => {
      const { stores, endpoint, find } = await setUp({ consecutiveFailures: 3 });
      const deliveries = await owed(stores, endpoint, 3);

      await dispatchAll(stores, deliveries, answer, () =>
        stores.endpoints.remove(endpoint.orgId, endpoint.id),
      );

      expect(await find()).toBeUndefined();
      for (const delivery of deliveries)
        expect((await stores.deliveries.find(delivery))?.terminalAt).toBe(NOW.toISOString());
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

    expect(await dispatchAll(stores, deliveries, 'failing')).toEqual(['ENDPOINT_DISABLED']);

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

    await dispatchAll(stores, deliveries, 'succeeding');

    expect(conflicts.count()).toBeGreaterThan(0);
    expect(await stores.endpoints.find(endpoint.orgId, endpoint.id)).toMatchObject({
      consecutiveFailures: 0,
    });
    for (const delivery of deliveries)
      expect(await stores.deliveries.find(delivery)).toMatchObject({ status: 'succeeded', attempts: 8 });
  });
});
