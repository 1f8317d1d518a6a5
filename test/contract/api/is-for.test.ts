import { PATIENCE } from 'aws-local/test/patience.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { deriveDeliveryId, type EndpointId, newId } from '../../../functions/aws/ids.ts';
import type { Delivery } from '../../../functions/delivery/delivery.ts';
import { outboxStore, PUBLICATION } from '../../../functions/delivery/outbox.ts';
import { deliveryStore } from '../../../functions/delivery/rows.ts';
import {
  buildEvent,
  buildExampleEvent,
  type EventFilter,
  type EventType,
  isFor,
  type OutboxEvent,
  SubscribableType,
} from '../../../functions/events/events.ts';
import type { Endpoint } from '../../../functions/receivers/endpoint.ts';
import { endpointStore } from '../../../functions/receivers/endpoints.ts';
import type { Tenant } from '../../../functions/tenancy/tenant.ts';
import { aDelivery, anEndpoint, anEvent, later, seconds } from '../../builders.ts';
import { casesOf } from '../../support/cases.ts';
import type { Data } from '../store/api-handlers.ts';
import { useApi } from './owners.ts';

const { tables, engine, commit, enrol } = useApi();

/** Old enough for everybody to see it. */
const AGO = later(new Date(), -seconds(120));

interface Context {
  tenant: Tenant;
  now: Date;
  traceId: undefined;
}
/** Builds an event of an organization with two endpoints. */
type Kind = (context: Context, id: EndpointId, other: EndpointId) => OutboxEvent;
/** Two endpoints of one organization, and an event. */
async function anOwner({
  event: kind,
  ...settings
}: {
  event: Kind;
  filter?: EventFilter | undefined;
  events?: SubscribableType[];
}) {
  const { tenant, call } = await enrol(['write:webhooks', 'read:conversations']);
  const { service, outbox, deliveries } = tables;
  async function endpoint(): Promise<Endpoint & { id: EndpointId }> {
    const id = newId('whk', AGO);
    const url = `https://${id.replace('_', '-')}.example.com/hooks?simulate=200`;
    const made = anEndpoint({ id, orgId: tenant.orgId, url, ...settings });
    await commit(...endpointStore(service).add(made));
    return { ...made, id };
  }
  const [own, other] = [await endpoint(), await endpoint()];
  const event = kind({ tenant, now: AGO, traceId: undefined }, own.id, other.id);
  await commit(outboxStore(outbox).append(event));
  const ref = { id: deriveDeliveryId(event.id, own.id), webhookId: own.id, generation: 0 };
  const store = deliveryStore(deliveries);
  return {
    tenant,
    call,
    own,
    event,
    ref,
    store,
    /** Adds the delivery of the event to the endpoint, as if the event had been for it. */
    async had(status: Delivery['status']): Promise<void> {
      const { id: eventId, type: eventType, filterValues = {} } = event;
      const names = { eventId, eventType, filterValues, webhookId: own.id };
      const delivery = aDelivery({ ...tenant, ...names, createdAt: AGO.toISOString(), status });
      await store.add(delivery);
    },
    /** Runs a job. @returns how many events it resends, or counts */
    async job(body: object): Promise<unknown> {
      const from = later(AGO, -seconds(60)).toISOString();
      const job = await call('startRedelivery', { params: { id: own.id }, body: { from, ...body } });
      await engine.redeliver();
      return (await call('readRedelivery', { params: { id: own.id, redeliveryId: String(job.id) } }))
        .redelivered;
    },
  };
}

/** What an event and the settings of an endpoint are made of. */
interface Happened {
  type: EventType;
  /** Its only receiver; undefined for one that subscribers get. */
  to: 'own' | 'other' | undefined;
  /** The endpoint that an event of the state of one is about. */
  about: 'own' | 'other';
  channelId: string;
  role: 'user' | 'agent';
}
interface Settings {
  events: SubscribableType[];
  filter: EventFilter | null;
}
const CHANNELS = ['web', 'app'];
const ROLES = ['user', 'agent'] as const;
const happened: fc.Arbitrary<Happened> = fc.record({
  type: fc.constantFrom<EventType>(...SubscribableType.options, 'webhook.test'),
  to: fc.constantFrom(undefined, undefined, 'own', 'other'),
  about: fc.constantFrom('own', 'other'),
  channelId: fc.constantFrom(...CHANNELS),
  role: fc.constantFrom(...ROLES),
});
const settings: fc.Arbitrary<Settings> = fc.record({
  events: fc.subarray([...SubscribableType.options], { minLength: 1 }),
  filter: fc.option(
    fc.record(
      {
        channelIds: fc.subarray(CHANNELS, { minLength: 1 }),
        roles: fc.subarray([...ROLES], { minLength: 1 }),
      },
      { requiredKeys: [] },
    ),
  ),
});

const build =
  ({ type, to, about, channelId, role }: Happened): Kind =>
  (context, own, other) => {
    const ids = { own, other };
    const data = {
      ...{ conversationId: newId('cnv', AGO), messageId: newId('msg', AGO), ticketId: newId('tkt', AGO) },
      ...{ escalationLogId: newId('esc', AGO), externalUserId: 'visitor-1', resolvedBy: 'api' },
      ...{ channelId, role, webhookId: ids[about] },
    };
    const only = type === 'webhook.test' ? (to ?? 'own') : to;
    return buildEvent(type, data as never, { ...context, ...(only && { onlyTo: ids[only] }) });
  };

/** Why an event is not for the endpoint (docs/specification.md, Webhook endpoints). Undefined when it is. */
function explain({ type, to, about, channelId, role }: Happened, { events, filter }: Settings) {
  if (type === 'webhook.test') return to === 'other' ? 'nothing' : undefined;
  if (to === 'other') return 'example_for_another';
  if (type.startsWith('webhook.') && about === 'own') return 'about_itself';
  if (!events.some((one) => one === type)) return 'not_subscribed';
  const isExcluded =
    (type === 'conversation.created' && filter?.channelIds?.includes(channelId) === false) ||
    (type === 'message.received' && filter?.roles?.includes(role) === false);
  return isExcluded ? 'filtered' : undefined;
}

/** Checks that all readers agree on whom it is for, also when types and filter change before the attempt. */
async function expectAgreement(event: Happened, before: Settings, after: Settings): Promise<void> {
  const { filter, events } = before;
  const owner = await anOwner({ event: build(event), events, ...(filter && { filter }) });
  const { call, own, ref, store, job } = owner;
  const explained = async () => {
    const { undelivered } = await call('readEvent', { params: { id: owner.event.id } });
    return Object.values(Object(undelivered)).find((one) => Object(one).webhookId === own.id);
  };
  const expectReason = async (reason: string | undefined) =>
    expect(await explained()).toEqual(
      reason === undefined || reason === 'nothing' ? undefined : expect.objectContaining({ reason }),
    );
  const change = (body: Settings) => call('updateWebhook', { params: { id: own.id }, body });
  const redeliver = () => call('redeliverDelivery', { params: { id: own.id, deliveryId: ref.id } });
  const [then, now] = [explain(event, before), explain(event, after)];
  const isForAll = event.to === undefined && event.type !== 'webhook.test';
  expect(PUBLICATION.parse(owner.event) !== undefined).toBe(isForAll && !event.type.startsWith('webhook.'));

  expect(await job({ what: 'missing', dryRun: true })).toBe(then === undefined ? 1 : 0);
  const [message] = (await engine.fanOut()).filter(({ webhookId }) => webhookId === own.id);
  expect(message !== undefined).toBe(then === undefined);
  await expectReason(then);
  const listed = Object.values(await call('listEvents', { query: { include: 'deliveries' } }));
  const shown = listed.flatMap((one) => Object(one).deliveries as Data[]);
  expect(shown.filter(({ webhookId }) => webhookId === own.id)).toHaveLength(then === undefined ? 1 : 0);

  await change(after);
  const attempted = message && (await engine.attempt(message));
  if (message !== undefined)
    expect(attempted).toMatchObject(
      now === undefined ? { status: 'succeeded' } : { terminalReason: 'not_subscribed', attempts: 0 },
    );
  if (message !== undefined && now !== undefined)
    await expect(redeliver()).rejects.toThrow(/CONFLICT.*does not subscribe/);
  // It was not for the endpoint then, and now it is.
  await expectReason(message === undefined && now === undefined ? 'not_subscribed' : now);
  const lacks = now === undefined && message === undefined ? 1 : 0;
  expect(await job({ what: 'missing', dryRun: true })).toBe(lacks);
  expect(await job({ what: 'missing' })).toBe(lacks);

  await change(before);
  const failed = attempted?.status === 'skipped' && then === undefined ? 1 : 0;
  expect(await job({ dryRun: true })).toBe(failed);
  expect(await job({})).toBe(failed);
  expect(await store.find(ref)).toEqual(attempted);
  if (attempted?.status === 'succeeded') expect(await redeliver()).toMatchObject({ redeliveryOf: ref.id });
}

const CREATED: Happened = {
  type: 'conversation.created',
  to: undefined,
  about: 'other',
  channelId: 'web',
  role: 'user',
};
const TICKET: Happened = { ...CREATED, type: 'ticket.created' };
const TEST: Happened = { ...CREATED, type: 'webhook.test' };
const SUBSCRIBED: Settings = { events: ['conversation.created'], filter: null };
const OTHER: Settings = { events: ['ticket.created'], filter: null };
const PASSES: Settings = { ...SUBSCRIBED, filter: { channelIds: ['app', 'web'], roles: ['agent'] } };
const EXCLUDES: Settings = { ...SUBSCRIBED, filter: { channelIds: ['app'] } };

describe('fan-out, jobs, counts, attempts, redeliveries and explanations agree on whom an event is for', () => {
  it.each<[string, Happened, before: Settings, after: Settings]>([
    ['a type that it subscribes to', CREATED, SUBSCRIBED, OTHER],
    ['another type', CREATED, OTHER, SUBSCRIBED],
    ['what its filter passes', CREATED, PASSES, EXCLUDES],
    ['what its filter excludes', CREATED, EXCLUDES, PASSES],
    ['its test', { ...TEST, to: 'own' }, SUBSCRIBED, OTHER],
    ["another endpoint's test", { ...TEST, to: 'other' }, SUBSCRIBED, OTHER],
    ['its example', { ...CREATED, to: 'own' }, SUBSCRIBED, OTHER],
    ['its example of another type', { ...TICKET, to: 'own' }, SUBSCRIBED, OTHER],
    ["another endpoint's example", { ...CREATED, to: 'other' }, SUBSCRIBED, OTHER],
    [
      'its own state',
      { ...CREATED, type: 'webhook.disabled', about: 'own' },
      { ...SUBSCRIBED, events: ['webhook.disabled'] },
      SUBSCRIBED,
    ],
  ])('%s', (_, event, before, after) => expectAgreement(event, before, after));

  it('any event, for any settings before and after the attempt', {
    timeout: 120_000 * PATIENCE,
  }, async () => {
    await fc.assert(fc.asyncProperty(happened, settings, settings, expectAgreement), {
      numRuns: casesOf(3, 60),
    });
  });

  it.each([
    ['still', CREATED, true],
    ['no longer', TICKET, false],
  ])('a retry, which is accepted while the endpoint %s subscribes', async (_, event, isAccepted) => {
    const { call, own, ref, had } = await anOwner({ event: build(event) });
    await had('retrying');
    const retried = call('retryDelivery', { params: { id: own.id, deliveryId: ref.id } });
    if (isAccepted) expect(await retried).toMatchObject({ status: 'retrying' });
    else await expect(retried).rejects.toThrow(/CONFLICT.*does not subscribe/);
  });
});

describe('an example', () => {
  it('passes the filter of its endpoint', async () => {
    const filter: EventFilter = { channelIds: ['web'], roles: ['agent'] };
    const context = { tenant: { orgId: newId('org', AGO), generation: 0 }, now: AGO, traceId: undefined };
    for (const type of ['conversation.created', 'message.received'] as const) {
      const id = newId('whk', AGO);
      expect(isFor(buildExampleEvent(type, id, { ...context, filter }), { id, events: [type], filter })).toBe(
        true,
      );
    }
  });

  it.each([
    ['conversation.created', true],
    ['webhook.test', true],
    ['ticket.created', false],
  ])('of %s is made for an endpoint that subscribes to new conversations: %s', async (type, isMade) => {
    const { call, own } = await anOwner({ event: (context) => anEvent(context) });
    const made = call('testWebhook', { params: { id: own.id }, body: { type } });
    if (isMade) await expect(made).resolves.toHaveProperty('eventId');
    else await expect(made).rejects.toThrow(/400.*VALIDATION_ERROR.*type/);
  });
});
