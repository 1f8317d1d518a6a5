import { Webhook as StandardWebhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { anOrganization } from '../an-organization.ts';
import { aPlace } from '../place.ts';
import { ok, path } from '../receivers.ts';

/* The outcomes of deliveries, as receivers and API callers see them. */
const organization = anOrganization(aPlace('withoutWaits'));
const { subscribe, ended } = organization;
const readDeliveries = organization.deliveries;

async function post(conversation: string, content = 'hello'): Promise<string> {
  const answer = await organization.api.post(`/api/v1/conversations/${conversation}/messages`, {
    role: 'user',
    content,
  });
  expect(answer.status).toBe(201);
  return String(answer.body.data?.id);
}

describe.concurrent('a delivery', () => {
  it('carries the specified fields, signed so that both libraries verify it', async () => {
    const { id, secret, received } = await subscribe(ok, ['conversation.created', 'message.received']);
    const conversation = await organization.api.createConversation();
    const message = await post(conversation, 'a secret of the conversation');
    await ended(id, 2);

    for (const { body, headers } of received) {
      expect(new StandardWebhook(secret).verify(body.toString(), headers)).toBeTruthy();
      expect(headers['content-type']).toBe('application/json');
      expect(headers['webhook-attempt']).toBe('1');
    }
    const events = received.map(({ body }) => JSON.parse(body.toString()));
    const envelope = {
      schemaVersion: 1,
      orgId: organization.id,
      createdAt: expect.any(String),
    };
    expect(events).toContainEqual({
      type: 'conversation.created',
      ...envelope,
      data: { conversationId: conversation, channelId: 'chn_test', externalUserId: 'user-1' },
    });
    expect(events).toContainEqual({
      type: 'message.received',
      ...envelope,
      data: { conversationId: conversation, messageId: message, role: 'user' },
    });
  });

  it('of the test operation can be an example of another type, marked by a header', async () => {
    const tested = await subscribe(ok);
    const other = await subscribe(ok);
    const answer = await organization.api.post(`${path(tested.id)}/test`, { type: 'ticket.created' });
    expect(answer.status).toBe(202);
    const [delivery] = await ended(tested.id, 1);
    expect(delivery).toMatchObject({
      id: answer.body.data?.deliveryId,
      eventType: 'ticket.created',
      status: 'succeeded',
    });
    expect(JSON.parse(tested.received[0]?.body.toString() ?? '')).toEqual({
      type: 'ticket.created',
      schemaVersion: 1,
      orgId: organization.id,
      createdAt: expect.any(String),
      data: {
        ticketId: expect.stringMatching(/^tkt_/),
        conversationId: expect.stringMatching(/^cnv_/),
        reason: expect.any(String),
      },
    });
    expect(tested.received[0]?.headers['webhook-example']).toBe('true');
    const event = await organization.api.get(`/api/v1/events/${answer.body.data?.eventId}`);
    expect(event.body.data).toMatchObject({ type: 'ticket.created', example: true });
    expect(await readDeliveries(other.id)).toEqual([]);
  });

  it('is exhausted after exactly 8 failed attempts', async () => {
    const { id, received } = await subscribe(() => ({ status: 500, body: 'no '.repeat(2000) }));
    await organization.api.post(`${path(id)}/test`);
    const [delivery] = await ended(id, 1);
    expect(delivery).toMatchObject({
      status: 'exhausted',
      attempts: 8,
      terminalReason: 'max_attempts',
      nextRetryAt: null,
      lastResponseStatus: 500,
      lastError: expect.stringContaining('500'),
      lastErrorCode: 'http_status',
    });
    expect(received.map(({ headers }) => headers['webhook-attempt'])).toEqual([...'12345678']);
    expect(new Set(received.map(({ headers }) => headers['webhook-delivery-id'])).size).toBe(1);

    const read = await organization.api.get(`${path(id)}/deliveries/${delivery?.id}`);
    const log = Object(read.body.data).attemptLog;
    expect(log.map(({ number }: { number: number }) => number)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect(log[0]).toMatchObject({ status: 500, error: expect.stringContaining('500') });
    expect(Buffer.byteLength(log[0].response)).toBeLessThanOrEqual(1024);
    const { body: listed } = await organization.api.get(`${path(id)}/deliveries?include=response`);
    expect(listed.data).toMatchObject([{ id: delivery?.id, lastResponse: log.at(-1).response }]);
    expect((await organization.api.get(path(id))).body.data).toMatchObject({
      status: 'active',
      consecutiveFailures: 1,
    });
  });

  it('that is exhausted can be sent again, unchanged, as a delivery of its own', async () => {
    const { api, subscribe, ended } = await organization.another();
    const endpoint = async (id: string) => (await api.get(path(id))).body.data;
    let healthy = false;
    const { id, secret, received } = await subscribe(
      () => ({ status: healthy ? 200 : 500 }),
      ['conversation.created'],
    );
    await api.createConversation();
    const [exhausted] = await ended(id, 1);
    expect(exhausted).toMatchObject({ status: 'exhausted', attempts: 8, redeliveryOf: null });
    expect(await endpoint(id)).toMatchObject({ consecutiveFailures: 1 });
    const { body } = await api.get('/api/v1/deliveries/stats');
    expect(Object(body.data).endpoints).toContainEqual(
      expect.objectContaining({
        webhookId: id,
        failing: { since: expect.any(String), failuresUntilDisabled: 9, disablesAt: null },
      }),
    );

    healthy = true;
    const answer = await api.post(`${path(id)}/deliveries/${exhausted?.id}/redeliver`);

    expect(answer.status).toBe(202);
    const { data } = answer.body;
    expect(data).toMatchObject({
      webhookId: id,
      eventId: exhausted?.eventId,
      eventType: 'conversation.created',
      status: 'pending',
      attempts: 0,
      nextRetryAt: data?.createdAt,
      terminalAt: null,
      terminalReason: null,
      lastError: null,
      redeliveryOf: exhausted?.id,
    });
    expect(data?.id).not.toBe(exhausted?.id);
    expect(answer.headers.location).toBe(`${path(id)}/deliveries/${data?.id}`);

    const [again, before] = await ended(id, 2);
    expect(again).toMatchObject({ id: data?.id, status: 'succeeded', attempts: 1, lastError: null });
    expect(before).toEqual(exhausted);
    const read = await api.get(String(answer.headers.location));
    expect(read.body.data).toMatchObject({ ...again, attemptLog: [{ number: 1, status: 200 }] });
    expect(await endpoint(id)).toMatchObject({ consecutiveFailures: 0 });

    const first = received[0] ?? expect.fail('the first attempt was to be received');
    const last = received[8] ?? expect.fail('the redelivery was to be received');
    expect(received).toHaveLength(9);
    expect(last.body).toEqual(first.body);
    expect(last.headers).toMatchObject({
      'webhook-delivery-id': data?.id,
      'webhook-id': first.headers['webhook-id'],
      'webhook-attempt': '1',
    });
    expect(new StandardWebhook(secret).verify(last.body.toString(), last.headers)).toBeTruthy();
  });
});
