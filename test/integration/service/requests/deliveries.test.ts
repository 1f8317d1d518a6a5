import { Webhook as StandardWebhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { anOrganization } from '../an-organization.ts';
import { aPlace } from '../place.ts';
import { ok, path } from '../receivers.ts';

/* The outcomes of deliveries, as receivers and API callers see them. */
const organization = anOrganization(aPlace());
const { subscribe, ended } = organization;

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
});
