import { describe, expect, it } from 'vitest';
import { deriveDeliveryId, newId, type ReceiverId } from '../../../functions/aws/ids.ts';
import { buildAddition } from '../../../functions/aws/transaction.ts';
import type { Delivery } from '../../../functions/delivery/delivery.ts';
import { ledgerStore } from '../../../functions/delivery/ledger.ts';
import { outboxStore } from '../../../functions/delivery/outbox.ts';
import { recordSuccess } from '../../../functions/delivery/redelivery.ts';
import { deliveryStore } from '../../../functions/delivery/rows.ts';
import { eventLog } from '../../../functions/events/event-log.ts';
import type { OutboxEvent } from '../../../functions/events/events.ts';
import { endpointStore } from '../../../functions/receivers/endpoints.ts';
import { keys } from '../../../functions/tenancy/keys.ts';
import { LIVE_GENERATION, type Tenant } from '../../../functions/tenancy/tenant.ts';
import { aDelivery, aLedgerEntry, anEndpoint, anEvent, later, seconds } from '../../builders.ts';
import type { Data } from '../store/api-handlers.ts';
import { useApi } from './owners.ts';

const { tables, commit, enrol } = useApi();

/** An organization with a key that may read its webhooks. */
async function anOwner() {
  const { tenant, call: reader } = await enrol(['read:webhooks', 'write:conversations']);
  const { service, outbox, deliveries } = tables;
  return {
    tenant,
    commit,
    async list(query: Record<string, string> = {}): Promise<(Data & { deliveries: Data[] })[]> {
      const data = await reader('listEvents', { query: { include: 'deliveries', limit: '100', ...query } });
      return data as unknown as (Data & { deliveries: Data[] })[];
    },
    reader,
    async event(now = new Date(), owner = tenant): Promise<OutboxEvent> {
      const event = anEvent({ tenant: owner, now });
      await commit(outboxStore(outbox).append(event));
      return event;
    },
    async endpoint() {
      const id = newId('whk', new Date());
      // A host has a limited number of endpoints.
      const url = `https://${id.replace('_', '-')}.example.com/hooks`;
      const endpoint = anEndpoint({ id, orgId: tenant.orgId, url });
      await commit(...endpointStore(service).add(endpoint));
      return endpoint;
    },
    async delivery(event: OutboxEvent, webhookId: ReceiverId, given: Partial<Delivery>) {
      const { orgId, generation, id: eventId, type: eventType } = event;
      const id = deriveDeliveryId(eventId, webhookId);
      const made = aDelivery({ orgId, generation, webhookId, eventId, eventType, id, ...given });
      await deliveryStore(deliveries).add(made);
      return made;
    },
    /** Records that a delivery is the redelivery that arrived. */
    arrive: (delivery: Delivery) => commit(recordSuccess(service, delivery)),
  };
}

/** A page of the newest events after one, with its place. */
async function readPage(tenant: Tenant, after?: string, order: 'listNewest' | 'listOldest' = 'listNewest') {
  const { withDeliveries } = await import('../../../functions/api/events/deliveries.ts');
  const log = eventLog(tables.outbox, tables.service);
  return withDeliveries(tenant, { limit: 100, now: new Date() }, (limit) =>
    log[order](tenant, { limit, after }, { types: undefined }, later(new Date(), seconds(60))),
  );
}

const FAILED = { status: 'exhausted', attempts: 8, lastError: 'the receiver answered 500' } as const;
/** Twenty of them are more than a page may have. */
const LARGE: Partial<Delivery> = {
  ...FAILED,
  attemptLog: [
    {
      number: 8,
      startedAt: new Date().toISOString(),
      durationMs: 1,
      request: { method: 'POST', url: 'https://example.com/', headers: {}, body: 'x'.repeat(60_000) },
    },
  ],
};

describe('the time of the next attempt', () => {
  const RETRY = '2026-11-20T09:31:00.000Z';
  const HOUR = 3_600_000;
  const lease = (until: number) => ({ lease: { token: 'token', until: Date.now() + until } });

  it.each<[string, Partial<Delivery>, (delivery: Delivery) => string | null]>([
    ['of a new delivery is its creation', {}, ({ createdAt }) => createdAt],
    ['is null during the first attempt', { attempts: 1, ...lease(HOUR) }, () => null],
    ['of a retry is its due time', { status: 'retrying', attempts: 2, nextRetryAt: RETRY }, () => RETRY],
    [
      'is null during a retry',
      { status: 'retrying', attempts: 3, nextRetryAt: RETRY, ...lease(HOUR) },
      () => null,
    ],
    [
      'is null during the last attempt',
      { status: 'retrying', attempts: 8, nextRetryAt: RETRY, ...lease(HOUR) },
      () => null,
    ],
    [
      'is null after a last attempt whose outcome was lost',
      { status: 'retrying', attempts: 8, nextRetryAt: RETRY, ...lease(-HOUR) },
      () => null,
    ],
    ['is null after the end', { status: 'exhausted', attempts: 8 }, () => null],
  ])('%s, wherever the delivery is shown', async (_, given, expected) => {
    const owner = await anOwner();
    const event = await owner.event();
    const { id: webhookId } = await owner.endpoint();
    const url = `https://${webhookId.replace('_', '-')}.example.org/`;
    const { id: channelId } = await owner.reader('createChannel', { body: { kind: 'http', name: 'x', url } });
    const receivers = [webhookId, String(channelId) as ReceiverId] as const;
    for (const receiver of receivers) await owner.delivery(event, receiver, given);
    const [delivery] = await deliveryStore(tables.deliveries).findAll([
      { id: deriveDeliveryId(event.id, webhookId), webhookId, generation: 0 },
    ]);
    if (delivery === undefined) throw new Error('the delivery was not stored');

    const ofEndpoint = { id: webhookId, deliveryId: delivery.id };
    const ofChannel = { id: String(channelId), deliveryId: deriveDeliveryId(event.id, receivers[1]) };
    const [listed] = await owner.list();
    const { deliveries } = await owner.reader('readEvent', { params: { id: event.id } });
    const shown = [
      ...(listed?.deliveries ?? []),
      ...(deliveries as Data[]),
      await owner.reader('readDelivery', { params: ofEndpoint }),
      await owner.reader('readChannelDelivery', { params: ofChannel }),
      ...((await owner.reader('listDeliveries', { params: ofEndpoint })) as unknown as Data[]),
      ...((await owner.reader('listChannelDeliveries', { params: ofChannel })) as unknown as Data[]),
    ];
    const nextRetryAt = expected(delivery);
    expect(shown.map((view) => view.nextRetryAt)).toEqual(Array.from({ length: 6 }, () => nextRetryAt));
  });
});

describe('events with their deliveries', () => {
  it('have the state of each delivery, those at deleted endpoints and resends that arrived included', async () => {
    const owner = await anOwner();
    const now = new Date();
    const event = await owner.event(now);
    const [well, ill, gone] = [await owner.endpoint(), await owner.endpoint(), anEndpoint()];
    const deletedAt = later(now, 1).toISOString();
    await owner.commit(
      buildAddition(tables.service, {
        ...keys.deletedEndpoint(owner.tenant.orgId, deletedAt, gone.id),
        ...gone,
        orgId: owner.tenant.orgId,
        deletedAt,
      }),
    );
    await owner.delivery(event, well.id, { status: 'succeeded', attempts: 1 });
    const failed = await owner.delivery(event, ill.id, FAILED);
    const resent = await owner.delivery(event, ill.id, {
      id: newId('dlv', later(now, 1000)),
      status: 'succeeded',
      attempts: 1,
      redeliveryOf: failed.id,
    });
    await owner.arrive(resent);
    await owner.delivery(event, gone.id, FAILED);

    const [listed] = await owner.list();

    const { payload, deliveries, undelivered, ...read } = await owner.reader('readEvent', {
      params: { id: event.id },
    });
    expect(listed).toEqual({
      ...read,
      deliveries: (deliveries as Data[]).map(({ attemptLog, ...summary }) => summary),
    });
    expect(listed?.deliveries).toHaveLength(4);
    expect(listed?.deliveries.find(({ webhookId }) => webhookId === gone.id)).toMatchObject({
      receiverStatus: 'deleted',
      url: gone.url,
      lastError: FAILED.lastError,
    });
    expect(JSON.stringify(listed)).not.toContain('attemptLog');
  });

  it('have none where there is no endpoint, and are absent unless they are requested', async () => {
    const owner = await anOwner();
    const event = await owner.event();
    expect(await owner.list()).toMatchObject([{ id: event.id, deliveries: [] }]);
    expect(await owner.reader('listEvents', {})).not.toMatchObject([{ deliveries: [] }]);
  });

  it('are those of the organization and of the sandbox generation alone', async () => {
    const [owner, other] = [await anOwner(), await anOwner()];
    const now = new Date();
    const endpoint = await owner.endpoint();
    const foreign = await other.endpoint();
    const event = await owner.event(now);
    const foreignEvent = await other.event(now);
    const nextGeneration = { ...owner.tenant, generation: 1 };
    const later = await owner.event(now, nextGeneration);
    await owner.delivery(event, endpoint.id, { status: 'succeeded', attempts: 1 });
    await other.delivery(foreignEvent, foreign.id, FAILED);
    // Of the same event at a foreign endpoint: no read of the owner's may reach it.
    await other.delivery(event, foreign.id, { ...FAILED, orgId: other.tenant.orgId });
    expect(await owner.list()).toMatchObject([{ id: event.id, deliveries: [{ webhookId: endpoint.id }] }]);
    expect(await other.list()).toMatchObject([
      { id: foreignEvent.id, deliveries: [{ webhookId: foreign.id }] },
    ]);
    expect(await readPage(nextGeneration)).toMatchObject({ items: [{ id: later.id, deliveries: [] }] });
  });

  it('end a page early where an organization has many endpoints, and continue after it', async () => {
    const owner = await anOwner();
    const now = new Date();
    const endpoints = [await owner.endpoint()];
    while (endpoints.length < 20) endpoints.push(await owner.endpoint());
    const events: OutboxEvent[] = [];
    for (let index = 0; index < 45; index += 1) events.push(await owner.event(later(now, -index * 1000)));
    const [newest, oldest] = [events[0], events.at(-1)];
    for (const { id } of endpoints)
      for (const event of [newest, oldest])
        if (event) await owner.delivery(event, id, event === oldest ? LARGE : FAILED);
    const sizes: number[] = [];
    const read: { id: string; deliveries: object[] }[] = [];
    for (let after: string | undefined; ; ) {
      const page = await readPage(owner.tenant, after);
      sizes.push(page.items.length);
      read.push(...page.items);
      if (page.next === undefined) break;
      after = page.next;
    }

    expect(sizes).toEqual([20, 20, 5]);
    expect(read.map(({ id }) => id)).toEqual(events.map(({ id }) => id));
    expect([read[0], read.at(-1)].map((event) => event?.deliveries.length)).toEqual([20, 20]);
    // The large deliveries of the first event end the page, and a follower continues there.
    const { items, ...position } = await readPage(owner.tenant, undefined, 'listOldest');
    const last = items.at(-1)?.id;
    expect(position).toEqual({ next: last, follow: last });
  });
});

it.each([
  ['in a moment', {}],
  ['at its turn under the limit of the endpoint', { maxPerSecond: 1 }],
])('a second request for an attempt says that it starts %s', async (when, limit) => {
  const { orgId, call } = await enrol(['write:webhooks']);
  const id = newId('whk', new Date());
  await commit(...endpointStore(tables.service).add(anEndpoint({ id, orgId, ...limit })));
  const delivery = aDelivery({ orgId, webhookId: id, status: 'retrying', attempts: 1 });
  await deliveryStore(tables.deliveries).add(delivery);
  const retry = () => call('retryDelivery', { params: { id, deliveryId: delivery.id } });

  expect(await retry()).toMatchObject({ status: 'retrying' });
  await expect(retry()).rejects.toThrow(`The next attempt was already requested and starts ${when}.`);
});

it('an outage stays in the totals of the deliveries when its endpoint is deleted', async () => {
  const { orgId, call } = await enrol(['read:webhooks']);
  const now = new Date();
  const anOwn = () => anEndpoint({ id: newId('whk', now), orgId });
  const [current, deleted] = [anOwn(), anOwn()];
  const deletedAt = now.toISOString();
  await commit(...endpointStore(tables.service).add(current));
  await commit(
    buildAddition(tables.service, {
      ...keys.deletedEndpoint(orgId, deletedAt, deleted.id),
      ...deleted,
      deletedAt,
    }),
  );
  const part = { shardId: 'shardId-0', first: '1'.repeat(24), last: '2'.repeat(24) };
  const hour = `${now.toISOString().slice(0, 13)}:00:00.000Z`;
  for (const { id: webhookId } of [current, deleted])
    await ledgerStore(tables.ledger).add(
      { ...part, shardId: `shardId-${webhookId}` },
      aLedgerEntry({ webhookId, hour, generation: LIVE_GENERATION, owed: 3, exhausted: 3 }),
    );

  const { totals, endpoints } = await call('readDeliveryStats', { query: { hours: '2' } });

  expect(totals).toMatchObject({ owed: 6, exhausted: 6 });
  expect(endpoints).toEqual([
    expect.objectContaining({ webhookId: current.id, totals: expect.objectContaining({ exhausted: 3 }) }),
  ]);
});

it('an event can be read while one of its endpoints is being deleted', async () => {
  const { orgId, tenant, call } = await enrol(['read:webhooks']);
  const now = new Date();
  const endpoint = anEndpoint({ orgId });
  const event = anEvent({ tenant, now });
  const { service, outbox } = tables;
  const deletedAt = new Date(now.getTime() + 1).toISOString();
  await commit(
    outboxStore(outbox).append(event),
    ...endpointStore(service).add(endpoint),
    // As a request reads it whose two reads have the deletion between them.
    buildAddition(service, {
      ...keys.deletedEndpoint(orgId, deletedAt, endpoint.id),
      ...endpoint,
      deletedAt,
    }),
  );

  const read = await call('readEvent', { params: { id: event.id } });

  expect(read).toMatchObject({ id: event.id, payload: event.body, deliveries: [] });
});
