import { until } from 'aws-local/test/until.ts';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { FAILURES_TO_DISABLE } from '../../../../functions/receivers/endpoint.ts';
import type { Answer, ReceivedDelivery } from '../../../../packages/cli/src/receiver/receiver.ts';
import { anOrganization } from '../an-organization.ts';
import { aPlace } from '../place.ts';
import { ok, path } from '../receivers.ts';
import { storeFailures } from '../stored-failures.ts';
import { expectProblem } from './expect-problem.ts';

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

  it('of the test operation reaches one endpoint, regardless of its event types', async () => {
    const tested = await subscribe(ok);
    const other = await subscribe(ok);
    const answer = await organization.api.post(`${path(tested.id)}/test`);
    expect(answer.status).toBe(202);
    const [delivery] = await ended(tested.id, 1);
    expect(delivery).toMatchObject({
      id: answer.body.data?.deliveryId,
      eventId: answer.body.data?.eventId,
      eventType: 'webhook.test',
      status: 'succeeded',
      attempts: 1,
      lastResponseStatus: 200,
      terminalReason: null,
      nextRetryAt: null,
    });
    expect(JSON.parse(tested.received[0]?.body.toString() ?? '')).toMatchObject({
      data: { webhookId: tested.id },
    });
    expect(await readDeliveries(other.id)).toEqual([]);
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

  it('of the test operation cannot be of a type that endpoints do not subscribe to', async () => {
    const { id } = await subscribe(ok);
    for (const type of ['channel.message', 'conversation.exploded', ''])
      expectProblem(await organization.api.post(`${path(id)}/test`, { type }), 400, 'VALIDATION_ERROR');
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
    expect(received.map(({ headers }) => headers['webhook-attempt'])).toEqual([
      '1',
      '2',
      '3',
      '4',
      '5',
      '6',
      '7',
      '8',
    ]);
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

  it('fails with a readable error on a redirect and on a timeout', async () => {
    const { promise: never } = Promise.withResolvers<Answer>();
    const answers: (() => Answer | Promise<Answer>)[] = [
      () => ({ status: 302, headers: { location: 'https://hooks.example.com/' } }),
      () => never,
      ok,
    ];
    const { id } = await subscribe(
      ({ headers }) => answers[Number(headers['webhook-attempt']) - 1]?.() ?? ok(),
    );
    await organization.api.post(`${path(id)}/test`);
    const [delivery] = await ended(id, 1);
    expect(delivery).toMatchObject({ status: 'succeeded', attempts: 3, lastResponseStatus: 200 });
    const read = await organization.api.get(`${path(id)}/deliveries/${delivery?.id}`);
    const [redirected, hung, succeeded] = Object(read.body.data).attemptLog;
    expect(redirected).toMatchObject({ status: 302, errorCode: 'redirect' });
    expect(hung).toMatchObject({ status: null, errorCode: 'timeout' });
    expect(succeeded).toMatchObject({ status: 200, error: null, errorCode: null });
    // The last error stays readable after a success.
    expect(delivery).toMatchObject({ lastError: hung.error, lastErrorCode: 'timeout' });
  });

  it('that starts before nine failures sets the count to 0 when it succeeds', async () => {
    const held = Promise.withResolvers<{ status: number }>();
    // On a busy machine the nine failures can outlast an attempt, so its retries are held as well.
    const isFirst = ({ headers }: ReceivedDelivery) =>
      headers['webhook-delivery-id'] === received[0]?.headers['webhook-delivery-id'];
    const { id, received } = await organization.subscribe((attempt) =>
      isFirst(attempt) ? held.promise : { status: 500 },
    );
    const endpoint = async () => (await organization.api.get(path(id))).body.data;
    const test = () => organization.api.post(`${path(id)}/test`);
    const countExhausted = async () =>
      (await organization.deliveries(id)).filter(({ status }) => status === 'exhausted').length;
    const { place } = organization;

    await test();
    await until('the attempt that takes long', () => received.length === 1);
    await test();
    await until('a failure', async () => (await countExhausted()) === 1);
    await storeFailures(place.service(), id, FAILURES_TO_DISABLE - 2);
    await test();
    await until('the ninth failure', async () => (await countExhausted()) === 2);
    expect(await endpoint()).toMatchObject({ status: 'active', consecutiveFailures: 9 });

    held.resolve({ status: 200 });
    await organization.ended(id, 3);
    expect(await endpoint()).toMatchObject({ status: 'active', consecutiveFailures: 0 });

    await test();
    await organization.ended(id, 4);
    expect(await endpoint()).toMatchObject({ status: 'active', consecutiveFailures: 1 });
  });
});

describe.concurrent('an endpoint', () => {
  it('is disabled by the tenth exhausted delivery in a row, and later deliveries are skipped', async () => {
    let healthy = false;
    const { api, subscribe, ended } = await organization.another();
    const { id, received } = await subscribe(() => ({ status: healthy ? 200 : 500 }));
    const test = (times: number) =>
      Promise.all(Array.from({ length: times }, () => api.post(`${path(id)}/test`)));
    const endpoint = async () => (await api.get(path(id))).body.data;

    await storeFailures(organization.place.service(), id, FAILURES_TO_DISABLE - 3);
    await test(2);
    await ended(id, 2);
    expect(await endpoint()).toMatchObject({ status: 'active', consecutiveFailures: 9 });

    healthy = true;
    await test(1);
    await ended(id, 3);
    expect(await endpoint()).toMatchObject({ status: 'active', consecutiveFailures: 0 });

    // All ten end at about the same time: exactly one of them is the tenth.
    healthy = false;
    await test(10);
    await ended(id, 13);
    expect(await endpoint()).toMatchObject({ status: 'auto_disabled', consecutiveFailures: 10 });

    const attempts = received.length;
    healthy = true;
    const [refused] = await test(1);
    expect([refused?.status, refused?.body.error?.type]).toEqual([409, 'CONFLICT']);
    await api.post('/api/v1/tickets', {});
    const all = await ended(id, 14);
    expect(all[0]).toMatchObject({ status: 'skipped', terminalReason: 'endpoint_disabled', attempts: 0 });
    expect(received.length).toBe(attempts);
    expect(attempts).toBe(12 * 8 + 1);
  }, 180_000);

  it('that is deleted gets no new deliveries and no further attempts', async () => {
    const { id, received } = await subscribe(() => ({ status: 500 }));
    await organization.api.post(`${path(id)}/test`);
    await until('the first attempt', () => received.length > 0);
    await organization.api.call({ method: 'DELETE', path: path(id) });
    const attempts = received.length;
    const witness = await subscribe(() => ({ status: 500 }));
    await organization.api.post(`${path(witness.id)}/test`);
    await ended(witness.id, 1);
    // One attempt may have been in progress at the deletion.
    expect(received.length).toBeLessThanOrEqual(attempts + 1);
  });
});
