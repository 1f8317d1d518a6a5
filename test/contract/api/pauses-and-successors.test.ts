import { describe, expect, it } from 'vitest';
import { deriveDeliveryId, EndpointId, newId } from '../../../functions/aws/ids.ts';
import { outboxStore } from '../../../functions/delivery/outbox.ts';
import { deliveryStore } from '../../../functions/delivery/rows.ts';
import {
  buildEndpointChange,
  type Endpoint,
  FAILURES_TO_DISABLE,
} from '../../../functions/receivers/endpoint.ts';
import { endpointStore } from '../../../functions/receivers/endpoints.ts';
import { anEndpoint, anEvent, later, seconds } from '../../builders.ts';
import type { Data } from '../store/api-handlers.ts';
import type { TestEngine } from '../store/delivery-engine.ts';
import { useApi } from './owners.ts';

const { tables, engine, commit, enrol } = useApi();

const AGO = later(new Date(), -seconds(60));

/** An organization with an endpoint, whose owner calls the API. */
async function anOwner(settings: Partial<Endpoint> = {}) {
  const { tenant, call } = await enrol(['write:webhooks', 'read:conversations']);
  const id = EndpointId.parse(settings.id ?? newId('whk', AGO));
  const url = `https://${id.replace('_', '-')}.example.com/hooks?simulate=200`;
  await commit(...endpointStore(tables.service).add(anEndpoint({ id, ...tenant, url, ...settings })));
  const params = { id };
  return {
    call,
    id,
    url,
    /** Disables an endpoint of the organization, as ten failures do. */
    async disable(whose: unknown) {
      const endpoint = { orgId: tenant.orgId, id: EndpointId.parse(whose) };
      const now = new Date();
      for (let failures = 1; failures < FAILURES_TO_DISABLE; failures += 1)
        await commit(buildEndpointChange(tables.service, endpoint, failures === 5 ? 'warn' : 'count', now));
      await commit(buildEndpointChange(tables.service, endpoint, 'disable', now));
    },
    patch: (body: object) => call('updateWebhook', { params, body }),
    /** Commits an event for the endpoint. @returns its delivery, and those of all, after all attempts */
    async deliver(to = id) {
      const event = anEvent({ tenant, now: new Date() });
      await commit(outboxStore(tables.outbox).append(event));
      const attempted: Awaited<ReturnType<TestEngine['attempt']>>[] = [];
      for (const message of await engine.fanOut()) attempted.push(await engine.attempt(message));
      const delivery = await deliveryStore(tables.deliveries).find({
        ...{ id: deriveDeliveryId(event.id, to), webhookId: to, generation: 0 },
      });
      return { event, delivery, attempted };
    },
    /** Runs the organization's jobs, and reads one. */
    async finish(job: unknown): Promise<Data> {
      await engine.redeliver();
      const { id: redeliveryId, webhookId } = Object(job);
      return call('readRedelivery', { params: { id: webhookId, redeliveryId } });
    },
  };
}

describe('a pause', () => {
  it('skips what is for the endpoint, and its end starts the job that sends it', async () => {
    const { patch, deliver, finish, call } = await anOwner();
    const before = await deliver();
    expect(await patch({ paused: true })).toMatchObject({ status: 'paused', redelivery: null });
    const { event, delivery } = await deliver();
    expect(delivery).toMatchObject({ status: 'skipped', terminalReason: 'endpoint_paused', attempts: 0 });
    expect((await call('readEvent', { params: { id: event.id } })).undelivered).toMatchObject([
      { reason: 'paused', receiverStatus: 'paused' },
    ]);

    const resumed = await patch({ paused: false });
    expect(resumed).toMatchObject({
      status: 'active',
      pausedAt: null,
      redelivery: { statuses: ['skipped'] },
    });
    expect(await finish(resumed.redelivery)).toMatchObject({ status: 'done', redelivered: 1 });
    expect(before.delivery).toMatchObject({ status: 'succeeded' });
  });

  it('leaves what failed for other reasons alone', async () => {
    const { patch, deliver, finish, url } = await anOwner();
    await patch({ url: url.replace('simulate=200', 'simulate=500') });
    expect((await deliver()).delivery).toMatchObject({ status: 'exhausted' });
    await patch({ paused: true });
    expect(await finish((await patch({ paused: false })).redelivery)).toMatchObject({ redelivered: 0 });
  });

  it('is no change when it is repeated, and is refused for a disabled endpoint', async () => {
    const { patch } = await anOwner();
    expect(await patch({ paused: false })).toMatchObject({ status: 'active', redelivery: null });
    const { pausedAt } = await patch({ paused: true });
    expect(await patch({ paused: true })).toMatchObject({ pausedAt, redelivery: null });
    const disabled = await anOwner({ status: 'auto_disabled' });
    for (const paused of [true, false])
      await expect(disabled.patch({ paused })).rejects.toThrow(/409.*CONFLICT.*is disabled/);
  });

  it('refuses what would send, with a sentence that says what to do', async () => {
    const { patch, deliver, call, id } = await anOwner();
    const { delivery } = await deliver();
    await patch({ paused: true });
    const params = { id, deliveryId: delivery?.id ?? '' };
    const from = AGO.toISOString();
    for (const refused of [
      () => call('testWebhook', { params, body: {} }),
      () => call('redeliverDelivery', { params }),
      () => call('startRedelivery', { params, body: { from } }),
    ])
      await expect(refused()).rejects.toThrow(/409.*is paused\. Resume it first/);
    expect(await call('startRedelivery', { params, body: { from, dryRun: true } })).toMatchObject({
      dryRun: true,
    });
  });
});

describe('a job for what succeeded', () => {
  it('resends each event that the receiver has acknowledged, once', async () => {
    const { deliver, call, finish, id } = await anOwner();
    await deliver();
    await deliver();
    const start = () =>
      call('startRedelivery', { params: { id }, body: { from: AGO.toISOString(), statuses: ['succeeded'] } });
    expect(await finish(await start())).toMatchObject({ status: 'done', examined: 2, redelivered: 2 });
    const ofAll = await call('startRedelivery', { params: { id }, body: { from: AGO.toISOString() } });
    expect(await finish(ofAll)).toMatchObject({ redelivered: 0 });
  });
});

describe('the successor of a disabled endpoint', () => {
  const at = AGO.toISOString();
  const FAILED: Partial<Endpoint> = { status: 'auto_disabled', failingSince: at, disabledAt: at };

  it.each([
    ['200', { status: 'done', redelivered: 1 }],
    ['500', { status: 'stopped', reason: 'test_failed', redelivered: 0 }],
  ])('gets a test, and after its success what the other one missed: %s', async (answer, ended) => {
    const url = `https://successor-of-${answer}.example.com/hooks?simulate=${answer}`;
    const { call, deliver, finish } = await anOwner({ ...FAILED, url });
    await deliver();
    const body = { url, events: ['conversation.created'], recover: 'predecessor' };
    const made = await call('registerWebhook', { body });
    expect(made).toMatchObject({
      secret: expect.any(String),
      redelivery: { what: 'missing', status: 'running' },
    });
    for (const message of await engine.fanOut()) await engine.attempt(message);
    expect(await finish(made.redelivery)).toMatchObject(ended);
  });

  it('gets what the other one was to recover and did not', async () => {
    const url = 'https://successor-of-a-successor.example.com/hooks?simulate=500';
    const { call, disable } = await anOwner({ ...FAILED, url });
    const body = { url, events: ['conversation.created'], recover: 'predecessor' };
    const first = await call('registerWebhook', { body });
    await disable(first.id);
    const second = await call('registerWebhook', { body });
    expect(second).toMatchObject({ predecessor: { id: first.id } });
    expect(Object(second.redelivery).from).toBe(Object(first.redelivery).from);
  });

  it('is refused where there is none', async () => {
    const { call } = await anOwner();
    const url = 'https://nobody.example.com/hooks';
    const body = { url, events: ['conversation.created'], recover: 'predecessor' };
    await expect(call('registerWebhook', { body })).rejects.toThrow(/400.*VALIDATION_ERROR.*recover needs/);
  });
});

describe('an endpoint that subscribes to the state of others', () => {
  const events: Endpoint['events'] = ['webhook.failing', 'webhook.disabled', 'webhook.recovered'];

  it.each([
    ['webhook.failing', { consecutiveFailures: 4 }, '500'],
    ['webhook.disabled', { consecutiveFailures: 9 }, '500'],
    ['webhook.recovered', { consecutiveFailures: 5 }, '200'],
    ['nothing', { consecutiveFailures: 4 }, '200'],
    ['nothing', { consecutiveFailures: 5 }, '500'],
  ])('gets %s, which the affected one does not', async (type, state, answer) => {
    const id = EndpointId.parse(newId('whk', AGO));
    const url = `https://${id.replace('_', '-')}.example.com/hooks?simulate=${answer}`;
    const { call, deliver } = await anOwner({
      ...state,
      id,
      url,
      events: [...events, 'conversation.created'],
    });
    const watching = { url: 'https://watching.example.com/hooks', events };
    const { id: watcher } = await call('registerWebhook', { body: watching });
    await deliver(id);
    const sent = await engine.fanOut();
    expect(sent.map(({ webhookId }) => webhookId)).toEqual(type === 'nothing' ? [] : [watcher]);
    for (const message of sent) expect(await engine.attempt(message)).toMatchObject({ eventType: type });
  });

  it('hears of each once, also where two that fail hear of one another', async () => {
    const one = EndpointId.parse(newId('whk', AGO));
    const all: Endpoint['events'] = [...events, 'conversation.created'];
    const fails = (name: string) => `https://${name}.example.com/hooks?simulate=500`;
    const { call, deliver } = await anOwner({ id: one, url: fails('one'), events: all });
    const { id: other } = await call('registerWebhook', { body: { url: fails('other'), events: all } });
    const heard: string[] = [];
    // Both are disabled in one round, and get no message of what the other one comes to.
    for (let count = 0; count < 12; count += 1)
      for (const delivery of (await deliver(one)).attempted)
        if (delivery && delivery.eventType !== 'conversation.created')
          heard.push(`${delivery.eventType} at ${delivery.webhookId}, ${delivery.status}`);
    const due = [one, other].map((id) => `webhook.failing at ${id}, exhausted`);
    expect(heard.toSorted()).toEqual(due.toSorted());
  });
});
