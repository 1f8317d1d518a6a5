import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { EndpointId, type OrgId } from '../../../functions/aws/ids.ts';
import { FAILURES_TO_DISABLE } from '../../../functions/receivers/endpoint.ts';
import { keys } from '../../../functions/tenancy/keys.ts';
import type { TestTables } from '../../engines.ts';
import type { Api, Caller } from './api-handlers.ts';
import type { TestEngine } from './delivery-engine.ts';

const EVENTS = [
  'conversation.created',
  'message.received',
  'handoff.requested',
  'ticket.created',
  'conversation.resolved',
];

/**
 * Uses every route of a key and lets the workers process all of it: deliveries in every state, to active,
 * disabled and deleted endpoints.
 * @param call with a key that has all scopes
 * @param orgId the organization that owns the data
 * @param asVisitor calls with a visitor token
 */
export async function live(
  { service }: TestTables,
  engine: TestEngine,
  call: Caller,
  orgId: OrgId,
  asVisitor: Api['caller'],
): Promise<void> {
  const register = async (program: string): Promise<EndpointId> => {
    const url = `https://example.com/hooks?simulate=${program}`;
    return EndpointId.parse((await call('registerWebhook', { body: { url, events: EVENTS } })).id);
  };
  const [taking, failing, gone] = [await register('200'), await register('503'), await register('timeout')];
  // Sets the endpoint's count to nine failed deliveries.
  await service.client.send(
    new UpdateCommand({
      TableName: service.name,
      Key: keys.endpoint(orgId, failing),
      UpdateExpression: 'SET consecutiveFailures = :failures',
      ExpressionAttributeValues: { ':failures': FAILURES_TO_DISABLE - 1 },
    }),
  );

  const conversation = { id: String((await converse(call)).id) };
  await call('createMessage', { params: conversation, body: { role: 'user', content: 'Hello' } });
  await call('requestHandoff', { params: conversation, body: { reason: 'asked for a person' } });
  await call('resolveConversation', { params: conversation, body: {} });
  await call('updateConversation', { params: conversation, body: { metadata: { order: '1' } } });
  const ticket = await call('createTicket', {
    body: { conversationId: conversation.id, reason: 'no agent available' },
  });
  await call('updateTicket', { params: { id: String(ticket.id) }, body: { status: 'closed' } });
  await call('testWebhook', { params: { id: taking } });
  await call('updateWebhook', { params: { id: taking }, body: { events: EVENTS } });

  const deliveryMessages = await engine.fanOut();
  const to = (endpoint: EndpointId) => deliveryMessages.filter(({ webhookId }) => webhookId === endpoint);
  for (const deliveryMessage of to(taking).slice(1)) await engine.attempt(deliveryMessage);
  const [last, ...late] = to(failing);
  if (last) await engine.attempt(last);
  for (const deliveryMessage of late) await engine.attempt(deliveryMessage);
  const [hidden, parked, lost] = to(gone);
  if (hidden) {
    await engine.attempt(hidden, 1);
    await call('retryDelivery', { params: { id: gone, deliveryId: hidden.id } });
  }
  if (parked) await engine.attempt(parked, 7);
  if (lost) await engine.claim(lost);
  await call('deleteWebhook', { params: { id: gone } });

  // A succeeded delivery is redelivered, and the disabled endpoint gets an event.
  const [, again] = to(taking);
  if (again) await call('redeliverDelivery', { params: { id: taking, deliveryId: again.id } });
  for (const deliveryMessage of await engine.fanOut()) await engine.attempt(deliveryMessage);
  await converse(call);
  await erase(call);
  await engine.fanOut();
  await sendAgain(engine, call, { id: taking }, { id: await register('200') });
  await answer(engine, call, asVisitor);
  await engine.follow(orgId);
  await learn(engine, call);
}

/**
 * Redelivery jobs: one ends, one is stopped, and one has not started.
 * @param late an endpoint that has received nothing
 */
async function sendAgain(
  engine: TestEngine,
  call: Caller,
  endpoint: { id: EndpointId },
  late: { id: EndpointId },
): Promise<void> {
  const body = { from: new Date(Date.now() - 3_600_000).toISOString() };
  const start = async () => String((await call('startRedelivery', { params: endpoint, body })).id);
  const ended = await start();
  await call('startRedelivery', { params: late, body: { ...body, what: 'missing' } });
  await engine.redeliver();
  await call('readRedelivery', { params: { ...endpoint, redeliveryId: ended } });
  await call('stopRedelivery', { params: { ...endpoint, redeliveryId: await start() } });
  await start();
}

/** Conversations on channels, one of which is deleted, and a visitor. */
async function answer(engine: TestEngine, call: Caller, asVisitor: Api['caller']): Promise<void> {
  const url = 'https://example.com/outgoing?simulate=200';
  const setUp = async (body: object) => String((await call('createChannel', { body })).id);
  const http = { name: 'Messenger', kind: 'http', url };
  const [taking, gone] = [await setUp(http), await setUp(http)];
  const widget = await setUp({ name: 'Website', kind: 'web_widget' });
  for (const channelId of [taking, gone, widget]) {
    const { id } = await call('createConversation', { body: { channelId, externalUserId: 'visitor-1' } });
    const params = { id: String(id) };
    await call('createMessage', { params, body: { role: 'agent', content: 'Hello' } });
    if (channelId !== widget) continue;
    const { token } = await call('createVisitorToken', { params });
    await asVisitor(String(token))('createWidgetMessage', { body: { content: 'Hello' } });
  }
  for (const deliveryMessage of await engine.fanOut())
    if (deliveryMessage.webhookId === taking) await engine.attempt(deliveryMessage);
  await sendAgainTo(engine, call, { id: taking });
  await call('deleteChannel', { params: { id: gone } });
}

/** A channel's failing test, its resending, and two of its jobs: one is stopped, and one has not started. */
async function sendAgainTo(engine: TestEngine, call: Caller, channel: { id: string }): Promise<void> {
  await call('updateChannel', {
    params: channel,
    body: { url: 'https://example.com/outgoing?simulate=503' },
  });
  const { deliveryId } = await call('testChannel', { params: channel });
  const [test] = await engine.fanOut();
  const delivery = { params: { ...channel, deliveryId: String(deliveryId) } };
  if (test) {
    await engine.attempt(test, 1);
    await call('retryChannelDelivery', delivery);
    await engine.attempt(test);
  }
  await call('redeliverChannelDelivery', delivery);
  const body = { from: new Date(Date.now() - 3_600_000).toISOString() };
  const start = () => call('startChannelRedelivery', { params: channel, body });
  await call('stopChannelRedelivery', { params: { ...channel, redeliveryId: String((await start()).id) } });
  await start();
}

/** Sources that change, stay unchanged, fail, and are deleted. */
async function learn(engine: TestEngine, call: Caller): Promise<void> {
  const add = async (program: string): Promise<{ id: string }> => {
    const url = `https://example.com/page?simulate=${program}`;
    return { id: String((await call('createSource', { body: { kind: 'url', url } })).id) };
  };
  const [changing, gone] = [await add('200,200'), await add('200')];
  await add('200,304');
  await add('503');
  await engine.checkSources();
  await call('syncSource', { params: changing });
  await engine.checkSources();
  await call('deleteSource', { params: gone });
  await engine.checkSources();
}

/** A conversation, and a contact with another one. */
async function erase(call: Caller): Promise<void> {
  const setUp = async (externalUserId: string) =>
    String((await call('createConversation', { body: { channelId: 'chn_web', externalUserId } })).id);
  await call('deleteConversation', { params: { id: await setUp('visitor-2') } });
  await setUp('visitor-3');
  await call('deleteContact', { params: { externalUserId: 'visitor-3' } });
}

const converse = (call: Caller) =>
  call('createConversation', { body: { channelId: 'chn_web', externalUserId: 'visitor-1' } });
