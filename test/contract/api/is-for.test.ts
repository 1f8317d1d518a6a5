import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { deriveDeliveryId, type EndpointId, newId } from '../../../functions/aws/ids.ts';
import type { Delivery, DeliveryMessage } from '../../../functions/delivery/delivery.ts';
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
import { useApi } from './owners.ts';

const { tables, engine, commit, enrol } = useApi();

/** Old enough for everybody to see it. */
const AGO = later(new Date(), -seconds(120));

interface Context {
  tenant: Tenant;
  now: Date;
  traceId: undefined;
}
/** An event for an endpoint that subscribes to new conversations and has been subscribed to new tickets. */
type Kind = (context: Context, id: EndpointId, other: EndpointId) => OutboxEvent;
const channelMessage = { role: 'agent', content: 'Hello', externalUserId: 'visitor-1' } as const;
const buildTest: (id: 'own' | 'other') => Kind = (whose) => (context, own, other) => {
  const webhookId = whose === 'own' ? own : other;
  return buildEvent('webhook.test', { webhookId }, { ...context, onlyTo: webhookId });
};

/**
 * Each kind of event. `isFor`: whether the endpoint gets it. `mayHave`: whether it may have a delivery of it
 * from an earlier time. `isOnBus`: whether the service's workers get it. `absence`: what the event says of
 * it.
 */
const KINDS: Record<
  string,
  {
    event: Kind;
    filter?: EventFilter;
    isFor: boolean;
    mayHave: boolean;
    isOnBus: boolean;
    absence?: string;
  }
> = {
  'an event of a type that it subscribes to': {
    event: (context) => anEvent(context),
    isFor: true,
    mayHave: true,
    isOnBus: true,
  },
  'an event of another type': {
    event: (context) => buildEvent('ticket.created', { ticketId: newId('tkt', AGO) }, context),
    isFor: false,
    mayHave: true,
    isOnBus: true,
    absence: 'not_subscribed',
  },
  'an event that its filter passes, which has a list for another type too': {
    event: (context) => anEvent(context),
    filter: { channelIds: ['other', 'chn_web'], roles: ['system'] },
    isFor: true,
    mayHave: true,
    isOnBus: true,
  },
  'an event that its filter excludes': {
    event: (context) => anEvent(context),
    filter: { channelIds: ['other'] },
    isFor: false,
    mayHave: true,
    isOnBus: true,
    absence: 'filtered',
  },
  'its test': { event: buildTest('own'), isFor: true, mayHave: true, isOnBus: false },
  "another endpoint's test": { event: buildTest('other'), isFor: false, mayHave: false, isOnBus: false },
  'its example of a type that it subscribes to': {
    event: (context, id) => buildExampleEvent('conversation.created', id, context),
    isFor: true,
    mayHave: true,
    isOnBus: false,
  },
  'its example of another type': {
    event: (context, id) => buildExampleEvent('ticket.created', id, context),
    isFor: false,
    mayHave: true,
    isOnBus: false,
    absence: 'not_subscribed',
  },
  "another endpoint's example": {
    event: (context, _, other) => buildExampleEvent('conversation.created', other, context),
    isFor: false,
    mayHave: false,
    isOnBus: false,
    absence: 'example_for_another',
  },
  "a channel's message": {
    event: (context) => {
      const channelId = newId('chn', AGO);
      const ids = { conversationId: newId('cnv', AGO), messageId: newId('msg', AGO) };
      const data = { channelId, ...ids, ...channelMessage };
      return buildEvent('channel.message', data, { ...context, onlyTo: channelId });
    },
    isFor: false,
    mayHave: false,
    isOnBus: false,
  },
};

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
    async had(status: Delivery['status']): Promise<DeliveryMessage> {
      const { id: eventId, type: eventType, filterValues = {} } = event;
      const names = { eventId, eventType, filterValues, webhookId: own.id };
      const delivery = aDelivery({ ...tenant, ...names, createdAt: AGO.toISOString(), status });
      await store.add(delivery);
      return { ...tenant, id: delivery.id, webhookId: own.id, eventId: event.id };
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
type Owner = Awaited<ReturnType<typeof anOwner>>;

/** Answers with whether the call is accepted. @throws for any refusal but a conflict */
async function isAccepted({ call, own, ref }: Owner, operation: 'retryDelivery' | 'redeliverDelivery') {
  try {
    await call(operation, { params: { id: own.id, deliveryId: ref.id } });
    return true;
  } catch (error) {
    expect(String(error)).toMatch(/CONFLICT.*does not subscribe/);
    return false;
  }
}

/** Readers of the outbox: whether the event is for the endpoint there. */
const READERS: Record<string, (owner: Owner) => Promise<boolean>> = {
  async 'the fan-out'({ ref, store }) {
    await engine.fanOut();
    return (await store.find(ref)) !== undefined;
  },
  'a job for what is missing': async ({ job }) => (await job({ what: 'missing' })) === 1,
  'a count of what is missing': async ({ job }) => (await job({ what: 'missing', dryRun: true })) === 1,
};
const READERS_OF_DELIVERIES: typeof READERS = {
  async 'an attempt'({ had }) {
    const ended = await engine.attempt(await had('pending'));
    expect(ended).toMatchObject(
      ended?.status === 'succeeded'
        ? { attempts: 1 }
        : { status: 'skipped', terminalReason: 'not_subscribed', attempts: 0 },
    );
    return ended?.status === 'succeeded';
  },
};
/** They see deliveries of the endpoint only, whose events were for it once. */
const READERS_OF_OWN: typeof READERS = {
  async 'a job for what failed'({ had, job }) {
    await had('exhausted');
    return (await job({})) === 1;
  },
  async 'a count of what failed'({ had, job }) {
    await had('skipped');
    return (await job({ dryRun: true })) === 1;
  },
  async 'a redelivery'(owner) {
    await owner.had('succeeded');
    return isAccepted(owner, 'redeliverDelivery');
  },
  async 'a retry'(owner) {
    await owner.had('retrying');
    return isAccepted(owner, 'retryDelivery');
  },
};

describe.each(Object.entries(KINDS))('%s', (_kind, { isFor, mayHave, isOnBus, absence, ...kind }) => {
  const readers = { ...READERS, ...READERS_OF_DELIVERIES, ...(mayHave ? READERS_OF_OWN : {}) };

  it.each(Object.entries(readers))(`is ${isFor ? '' : 'not '}for the endpoint to %s`, async (_, reads) => {
    expect(await reads(await anOwner(kind))).toBe(isFor);
  });

  it(`has ${mayHave ? 'its' : 'no'} delivery to the endpoint in the event log`, async () => {
    const { had, call, event: made } = await anOwner(kind);
    await had('succeeded');
    const listed = await call('listEvents', { query: { include: 'deliveries' } });
    const ofIt = Object.values(listed).filter((one) => Object(one).id === made.id);
    expect(ofIt.flatMap((one) => Object(one).deliveries)).toHaveLength(mayHave ? 1 : 0);
  });

  it(`is explained as ${absence ?? 'nothing'} at the endpoint`, async () => {
    const { call, own, event } = await anOwner(kind);
    await engine.fanOut();
    const { undelivered } = await call('readEvent', { params: { id: event.id } });
    const ofOwn = Object.values(Object(undelivered)).filter((one) => Object(one).webhookId === own.id);
    expect(ofOwn.map((one) => Object(one).reason)).toEqual(absence === undefined ? [] : [absence]);
  });

  it(`is ${isOnBus ? '' : 'not '}on the bus`, async () => {
    expect((await PUBLICATION.parse((await anOwner(kind)).event)) !== undefined).toBe(isOnBus);
  });
});

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

describe('fan-out, jobs, counts and explanations', () => {
  it('agree on whom an event is for, also when types and filter change before the attempt', async () => {
    await fc.assert(
      fc.asyncProperty(happened, settings, settings, async (event, before, after) => {
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
        const [then, now] = [explain(event, before), explain(event, after)];

        expect(await job({ what: 'missing', dryRun: true })).toBe(then === undefined ? 1 : 0);
        const [message] = (await engine.fanOut()).filter(({ webhookId }) => webhookId === own.id);
        expect(message !== undefined).toBe(then === undefined);
        await expectReason(then);

        await change(after);
        const attempted = message && (await engine.attempt(message));
        if (message !== undefined)
          expect(attempted).toMatchObject(
            now === undefined ? { status: 'succeeded' } : { terminalReason: 'not_subscribed', attempts: 0 },
          );
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
      }),
      { numRuns: casesOf(8, 60) },
    );
  }, 120_000);
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
