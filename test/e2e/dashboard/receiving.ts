import { expect, onTestFinished } from 'vitest';
import {
  type Answer,
  type ReceivedDelivery,
  startReceiver,
} from '../../../packages/cli/src/receiver/receiver.ts';
import type { Dashboard } from '../dashboard-fixture.ts';

export const WELL: Answer = { status: 200 };
export const DOWN: Answer = { status: 500, body: 'the database of the receiver is down' };
/** Of deliveries, which disable an endpoint. */
export const FAILURES_TO_DISABLE = 10;

/** A receiver without an endpoint, until the end of the test. `answer` may be changed. */
export async function aReceiver({ service }: Dashboard, answer: Answer) {
  const receiver = { answer, received: [] as ReceivedDelivery[], url: '' };
  const { url, stop } = await startReceiver({
    ...service.run.tls,
    respond: () => receiver.answer,
    onDelivery: (delivery) => receiver.received.push(delivery),
  });
  onTestFinished(stop);
  receiver.url = `${url}/hooks/${crypto.randomUUID()}`;
  return receiver;
}

/**
 * A receiver with an endpoint and the events of new tickets.
 * @param tickets the number of tickets
 */
export async function aReceiverOwed(dashboard: Dashboard, answer: Answer, tickets: number) {
  const receiver = await aReceiver(dashboard, answer);
  const { api, ended } = dashboard.service;
  const { id, secret } = await api.register(receiver.url, ['ticket.created']);
  onTestFinished(async () => {
    await api.call({ method: 'DELETE', path: `/api/v1/webhooks/${id}` });
  });
  for (let ticket = 0; ticket < tickets; ticket += 1) await api.post('/api/v1/tickets', {});
  await ended(id, tickets);
  return { ...receiver, id, secret, become: (next: Answer) => Object.assign(receiver, { answer: next }) };
}

/** A receiver whose endpoint was disabled by failures. @param missed its events */
export async function aDisabledReceiver(dashboard: Dashboard, missed = FAILURES_TO_DISABLE) {
  const receiver = await aReceiverOwed(dashboard, DOWN, missed);
  const { body } = await dashboard.service.api.get(`/api/v1/webhooks/${receiver.id}`);
  expect(body.data?.status).toBe('auto_disabled');
  return receiver;
}

/** A channel whose receiver answers so, and the messages that an agent has written on it. */
export async function aChannelOwed(dashboard: Dashboard, answer: Answer, messages: number) {
  const receiver = await aReceiver(dashboard, answer);
  const { api } = dashboard.service;
  const create = async (path: string, body: object) => String((await api.post(path, body)).body.data?.id);
  const id = await create('/api/v1/channels', { kind: 'http', name: 'SMS gateway', url: receiver.url });
  onTestFinished(async () => {
    await api.call({ method: 'DELETE', path: `/api/v1/channels/${id}` });
  });
  const conversation = await create('/api/v1/conversations', { channelId: id, externalUserId: 'ada' });
  const say = () =>
    create(`/api/v1/conversations/${conversation}/messages`, { role: 'agent', content: 'How can I help?' });
  const said: string[] = [];
  for (let message = 0; message < messages; message += 1) said.push(await say());
  return { receiver, id, said, say };
}

/** A conversation with one message, which has two events. */
export async function aConversation({ service }: Dashboard): Promise<{ id: string; messageId: string }> {
  const { body } = await service.api.post('/api/v1/conversations', {
    channelId: 'web',
    externalUserId: 'ada',
  });
  const id = String(body.data?.id);
  const message = await service.api.post(`/api/v1/conversations/${id}/messages`, {
    role: 'user',
    content: 'Hi',
  });
  return { id, messageId: String(message.body.data?.id) };
}
