import { PATIENCE } from 'aws-local/test/patience.ts';
import { describe, expect, it } from 'vitest';
import { MAX_ATTEMPTS } from '../../../functions/delivery/timing.ts';
import type { Data } from '../store/api-handlers.ts';
import { useApi } from './owners.ts';

const { engine, enrol } = useApi();

const AGO = new Date(Date.now() - 60_000).toISOString();
const urlOf = (answer: number) => `https://messenger.example.com/out?simulate=${answer}`;

/** An `http` channel whose receiver answers so, with a conversation, and a client of its organization. */
async function aChannel(answer = 200) {
  const { call } = await enrol(['write:conversations', 'read:webhooks']);
  const { id } = await call('createChannel', { body: { kind: 'http', name: 'SMS', url: urlOf(answer) } });
  const params = { id: String(id) };
  const conversation = await call('createConversation', {
    body: { channelId: id, externalUserId: 'ada' },
  });
  const patch = (body: object): Promise<Data> => call('updateChannel', { params, body });
  /** Attempts what is new until it has ended, all of it in turn: the clock moves as in one outage. */
  async function settle() {
    let open = await engine.fanOut();
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
      const ended = new Set<unknown>();
      for (const message of open)
        if ((await engine.attempt(message, 1))?.terminalAt !== undefined) ended.add(message);
      open = open.filter((message) => !ended.has(message));
    }
  }
  return {
    call,
    params,
    patch,
    settle,
    /** An agent writes messages, which are then delivered or not. @returns their ids */
    async say(...contents: string[]): Promise<unknown[]> {
      const ids: unknown[] = [];
      for (const content of contents) {
        const body = { role: 'agent', content };
        ids.push((await call('createMessage', { params: { id: String(conversation.id) }, body })).id);
      }
      await settle();
      return ids;
    },
    deliveries: async (status: string) =>
      Object.values(
        await call('listChannelDeliveries', { params, query: { status, limit: '100' } }),
      ) as Data[],
    async messageOf(eventId: unknown): Promise<unknown> {
      return Object((await call('readEvent', { params: { id: String(eventId) } })).data).messageId;
    },
  };
}

const numbered = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, index) => `message ${first + index}`);

describe('the outage of a channel', { timeout: 60_000 * PATIENCE }, () => {
  it('ends with every message delivered once and in order', async () => {
    const { call, params, patch, say, deliveries, messageOf } = await aChannel();
    const [before] = await say('before');
    await patch({ url: urlOf(500) });
    const failed = await say(...numbered(1, 10));
    expect(await call('readChannel', { params })).toMatchObject({
      status: 'auto_disabled',
      disabledReason: 'consecutive_failures',
    });
    const skipped = await say(...numbered(11, 25));
    expect(await deliveries('exhausted')).toHaveLength(10);
    expect(await deliveries('skipped')).toHaveLength(15);
    for (const route of ['testChannel', 'startChannelRedelivery'] as const) {
      const body = route === 'testChannel' ? {} : { body: { from: AGO } };
      await expect(call(route, { params, ...body })).rejects.toThrow(/409.*channel is disabled. Resume it/);
    }
    await expect(patch({ paused: true })).rejects.toThrow(/409.*channel is disabled. Resume it/);

    const resumed = await patch({ url: urlOf(200), paused: false });
    expect(resumed).toMatchObject({
      ...{ status: 'active', consecutiveFailures: 0, failing: null, disabledAt: null, disabledReason: null },
      redelivery: { channelId: params.id, what: 'failed', status: 'running' },
    });
    const [live] = await say('after');
    const resent = await engine.redeliver();
    for (const message of resent) await engine.attempt(message);

    const redeliveryId = String(Object(resumed.redelivery).id);
    expect(await call('readChannelRedelivery', { params: { ...params, redeliveryId } })).toMatchObject({
      status: 'done',
      redelivered: 25,
      channelId: params.id,
    });
    expect(await Promise.all(resent.map(({ eventId }) => messageOf(eventId)))).toEqual([
      ...failed,
      ...skipped,
    ]);
    const arrived = await Promise.all(
      (await deliveries('succeeded')).map(({ eventId }) => messageOf(eventId)),
    );
    expect(arrived.toSorted()).toEqual([before, ...failed, ...skipped, live].toSorted());
    expect(await patch({ paused: false })).toMatchObject({ status: 'active', redelivery: null });
  });

  it('that begins again before everything is resent ends with every message, too', async () => {
    const { call, params, patch, say, deliveries } = await aChannel(500);
    await say(...numbered(1, 10));
    await say(...numbered(11, 15));
    await patch({ paused: false });
    await say(...numbered(16, 25));
    await engine.redeliver();
    expect(await call('listChannelRedeliveries', { params })).toMatchObject([
      { status: 'stopped', reason: 'endpoint_disabled', redelivered: 0 },
    ]);
    await patch({ url: urlOf(200), paused: false });
    await patch({ paused: true });
    await engine.redeliver();
    await patch({ paused: false });
    for (const message of await engine.redeliver()) await engine.attempt(message);
    const events = (await deliveries('succeeded')).map(({ eventId }) => eventId);
    expect([events.length, new Set(events).size]).toEqual([25, 25]);
  });
});

describe('a channel', () => {
  it('skips messages while it is paused, and sends them when it is resumed', async () => {
    const { patch, say, deliveries } = await aChannel();
    expect(await patch({ paused: true })).toMatchObject({ status: 'paused', redelivery: null });
    await say(...numbered(1, 3));
    expect(await deliveries('skipped')).toMatchObject(
      Array.from({ length: 3 }, () => ({ terminalReason: 'endpoint_paused' })),
    );
    await patch({ paused: false });
    for (const message of await engine.redeliver()) await engine.attempt(message);
    expect(await deliveries('succeeded')).toHaveLength(3);
  });

  it('is tested, retried, resent and counted like an endpoint', async () => {
    const { call, params, patch, settle } = await aChannel();
    const { deliveryId } = await call('testChannel', { params });
    await settle();
    const ofTest = { params: { ...params, deliveryId: String(deliveryId) } };
    expect(await call('readChannelDelivery', ofTest)).toMatchObject({
      ...{ eventType: 'channel.test', channelId: params.id, status: 'succeeded' },
    });
    expect(await call('redeliverChannelDelivery', ofTest)).toMatchObject({
      ...{ channelId: params.id, redeliveryOf: deliveryId },
    });
    await patch({ url: urlOf(500) });
    const { deliveryId: second } = await call('testChannel', { params });
    for (const message of await engine.fanOut()) await engine.attempt(message, 1);
    const retrying = { params: { ...params, deliveryId: String(second) } };
    expect(await call('retryChannelDelivery', retrying)).toMatchObject({ status: 'retrying', attempts: 1 });
    expect(await call('readChannelStats', { params })).toMatchObject({ channelId: params.id, hours: [] });
    const job = await call('startChannelRedelivery', { params, body: { from: AGO, dryRun: true } });
    expect(await call('listChannelRedeliveries', { params })).toMatchObject([{ id: job.id, dryRun: true }]);
  });

  it('of kind web_widget has a name to change and receives nothing', async () => {
    const { call } = await aChannel();
    const { id } = await call('createChannel', { body: { kind: 'web_widget', name: 'Shop' } });
    const params = { id: String(id) };
    const update = (body: object) => call('updateChannel', { params, body });
    expect(await update({ name: 'Store' })).toMatchObject({ name: 'Store', status: 'active', url: null });
    await expect(update({ paused: true })).rejects.toThrow(/400.*paused applies to channels of kind http/);
    await expect(update({ url: urlOf(200) })).rejects.toThrow(/400.*url applies to channels of kind http/);
    await expect(call('testChannel', { params })).rejects.toThrow(
      /409.*Nothing is sent to a channel of kind/,
    );
    expect(await call('listChannelRedeliveries', { params })).toEqual([]);
    expect(await call('readChannelStats', { params })).toMatchObject({ totals: { owed: 0 } });
  });
});
