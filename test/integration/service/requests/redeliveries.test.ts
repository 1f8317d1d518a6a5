import { randomUUID } from 'node:crypto';
import { until } from 'aws-local/test/until.ts';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { FAILURES_TO_DISABLE } from '../../../../functions/receivers/endpoint.ts';
import type { Answer } from '../../../../packages/cli/src/receiver/receiver.ts';
import type { Data } from '../../../support/api.ts';
import { anOrganization } from '../an-organization.ts';
import { aPlace } from '../place.ts';
import { ok, path } from '../receivers.ts';
import { storeFailures } from '../stored-failures.ts';

/* Redeliveries of single deliveries. */
const organization = anOrganization(aPlace('withoutWaits'));
const { subscribe, deliveries, ended } = organization;

const redeliverPath = (id: string, delivery: unknown) => `${path(id)}/deliveries/${delivery}/redeliver`;

/** Requests a redelivery, with an idempotency key if one is given. */
const redeliver = (id: string, delivery: unknown, key?: string) =>
  organization.api.call({
    method: 'POST',
    path: redeliverPath(id, delivery),
    ...(key === undefined ? {} : { headers: { 'idempotency-key': key } }),
  });

async function accepted(id: string, delivery: unknown): Promise<Data> {
  const { status, body } = await redeliver(id, delivery);
  expect(status).toBe(202);
  return body.data ?? expect.fail('a delivery was to be answered');
}

const test = async (id: string): Promise<string> => {
  const { body } = await organization.api.post(`${path(id)}/test`);
  return String(body.data?.deliveryId);
};
const endpoint = async (id: string) => (await organization.api.get(path(id))).body.data;

describe.concurrent('a redelivery', () => {
  it('resends the unchanged event of an exhausted delivery under an id of its own', async () => {
    let healthy = false;
    const { id, secret, received } = await subscribe(
      () => ({ status: healthy ? 200 : 500 }),
      ['conversation.created'],
    );
    await organization.api.createConversation();
    const [exhausted] = await ended(id, 1);
    expect(exhausted).toMatchObject({ status: 'exhausted', attempts: 8, redeliveryOf: null });
    expect(await endpoint(id)).toMatchObject({ consecutiveFailures: 1 });
    // No other delivery is in progress that could disable it.
    const { body } = await organization.api.get('/api/v1/deliveries/stats');
    expect(Object(body.data).endpoints).toContainEqual(
      expect.objectContaining({
        webhookId: id,
        failing: { since: expect.any(String), failuresUntilDisabled: 9, disablesAt: null },
      }),
    );

    healthy = true;
    const answer = await redeliver(id, exhausted?.id);

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
    const read = await organization.api.get(String(answer.headers.location));
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

  it('that fails has eight attempts too, counts at the endpoint, and can be repeated', async () => {
    let healthy = true;
    const { id, received } = await subscribe(() => ({ status: healthy ? 200 : 500 }));
    const first = await test(id);
    await ended(id, 1);

    healthy = false;
    const failing = await accepted(id, first);
    const [exhausted] = await ended(id, 2);
    expect(exhausted).toMatchObject({
      id: failing.id,
      status: 'exhausted',
      attempts: 8,
      redeliveryOf: first,
      terminalReason: 'max_attempts',
    });
    expect(await endpoint(id)).toMatchObject({ status: 'active', consecutiveFailures: 1 });

    healthy = true;
    const repeated = await accepted(id, failing.id);
    const [succeeded] = await ended(id, 3);
    expect(succeeded).toMatchObject({ id: repeated.id, status: 'succeeded', redeliveryOf: failing.id });
    expect(received.map(({ headers }) => headers['webhook-attempt'])).toEqual([
      '1',
      ...['1', '2', '3', '4', '5', '6', '7', '8'],
      '1',
    ]);
  });

  it("is made for each request without an idempotency key, regardless of the first one's outcome", async () => {
    const { id, received } = await subscribe(ok);
    const first = await test(id);
    await ended(id, 1);

    const made = [await accepted(id, first), await accepted(id, first)];
    await ended(id, 3);
    made.push(await accepted(id, first));
    await ended(id, 4);

    const ids = [first, ...made.map((delivery) => delivery.id)];
    expect(new Set(received.map(({ headers }) => headers['webhook-delivery-id']))).toEqual(new Set(ids));
    expect(received).toHaveLength(4);
    expect(new Set(received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  });

  it('is made once by many requests with one idempotency key, and all get its answer', async () => {
    const { id, received } = await subscribe(ok);
    const first = await test(id);
    await ended(id, 1);
    const key = randomUUID();

    const answers = await Promise.all(Array.from({ length: 8 }, () => redeliver(id, first, key)));

    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 202));
    expect(answers.filter(({ headers }) => headers['idempotency-replayed'] === undefined)).toHaveLength(1);
    expect(new Set(answers.map(({ body }) => body.data?.id)).size).toBe(1);
    expect(new Set(answers.map(({ headers }) => headers.location)).size).toBe(1);
    expect(await ended(id, 2)).toHaveLength(2);
    expect(received).toHaveLength(2);

    const other = await accepted(id, first);
    expect(await redeliver(id, other.id, key)).toMatchObject({
      status: 422,
      body: { error: { type: 'IDEMPOTENCY_KEY_REUSED' } },
    });
  });

  it('has the same answer for the same idempotency key after the endpoint was deleted', async () => {
    const { id } = await subscribe(ok);
    const first = await test(id);
    await ended(id, 1);
    const key = randomUUID();
    const answer = await redeliver(id, first, key);
    await organization.api.call({ method: 'DELETE', path: path(id) });

    const replayed = await redeliver(id, first, key);

    expect(replayed).toMatchObject({ status: 202, headers: { 'idempotency-replayed': 'true' } });
    expect(replayed.body).toEqual(answer.body);
  });
});

describe.concurrent('a refused redelivery', () => {
  const conflict = (message: RegExp) => ({
    status: 409,
    body: { error: { type: 'CONFLICT', message: expect.stringMatching(message) } },
  });
  const notFound = { status: 404, body: { error: { type: 'NOT_FOUND' } } };

  it('is one of a delivery that is still open', async () => {
    const { promise, resolve } = Promise.withResolvers<Answer>();
    const { id, received } = await subscribe(() => promise);
    const first = await test(id);
    await until('the first attempt', () => received.length > 0);

    expect(await redeliver(id, first)).toMatchObject(conflict(/in progress/));

    resolve(ok());
    await ended(id, 1);
    expect(await deliveries(id)).toHaveLength(1);
  });

  it('is one of a disabled endpoint, for exhausted and for skipped deliveries', async () => {
    const { api, subscribe, ended, deliveries } = await organization.another();
    const { id, received } = await subscribe(() => ({ status: 500 }));
    await storeFailures(organization.place.service(), id, FAILURES_TO_DISABLE - 1);
    await api.post(`${path(id)}/test`);
    await ended(id, 1);
    expect((await api.get(path(id))).body.data).toMatchObject({ status: 'auto_disabled' });
    await api.post('/api/v1/tickets', {});
    const [skipped, exhausted] = await ended(id, 2);
    expect([skipped?.status, exhausted?.status]).toEqual(['skipped', 'exhausted']);
    const attempts = received.length;

    for (const delivery of [skipped, exhausted])
      expect(await api.post(redeliverPath(id, delivery?.id))).toMatchObject(conflict(/disabled.*Register/));

    expect(await deliveries(id)).toHaveLength(2);
    expect(received).toHaveLength(attempts);
  });

  it('is one of an unknown delivery, of another endpoint or of a deleted endpoint', async () => {
    const [mine, other] = [await subscribe(ok), await subscribe(ok)];
    const delivery = await test(mine.id);
    await ended(mine.id, 1);

    expect(await redeliver(other.id, delivery)).toMatchObject(notFound);
    expect(await redeliver(mine.id, `dlv_${'0'.repeat(32)}`)).toMatchObject(notFound);
    expect(await redeliver(mine.id, 'dlv_1')).toMatchObject(notFound);
    await organization.api.call({ method: 'DELETE', path: path(mine.id) });
    expect(await redeliver(mine.id, delivery)).toMatchObject(notFound);
  });

  it('is one whose idempotency key is no UUID', async () => {
    const { id } = await subscribe(ok);
    const delivery = await test(id);
    await ended(id, 1);

    expect(await redeliver(id, delivery, 'once')).toMatchObject({
      status: 400,
      body: { error: { type: 'VALIDATION_ERROR' } },
    });
    expect(await deliveries(id)).toHaveLength(1);
  });
});
