import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import type { UseCase } from '../../../functions/http/api.ts';
import { IdempotencyRecord } from '../../../functions/http/idempotency.ts';
import { refusals } from '../../../functions/http/problem.ts';
import { success } from '../../../functions/http/reply.ts';
import type { Route } from '../../../functions/http/route.ts';
import { NOW } from '../../builders.ts';
import {
  aRequest,
  createThing,
  createThingWith,
  envelope,
  send,
  type ThingUseCase,
  thingRoute,
} from './call.ts';
import { aThing, type InMemory, inMemory } from './in-memory.ts';

const honouring = { ...thingRoute, idempotency: 'honoured' } as const satisfies Route;
const ignoring = { ...thingRoute, idempotency: undefined } as const satisfies Route;

const pathParameters = { id: newId('whk', NOW) };
/** A request with the same key each time. */
const once = (service: InMemory, key: string, change: Parameters<typeof aRequest>[1] = {}) =>
  aRequest(service, { pathParameters, ...change, headers: { 'Idempotency-Key': key, ...change.headers } });
const bodyOf = (name: string) => ({ body: JSON.stringify({ name }) });

/** A use case whose answer has the number of its run, so that a replay differs from a second run. */
function counting(): ThingUseCase & { runs: () => number } {
  let runs = 0;
  const useCase: ThingUseCase = async ({ effect }) => {
    runs += 1;
    return effect(success({ name: `run ${runs}` }, { location: `/things/${runs}` }), [aThing('thing')]);
  };
  return Object.assign(useCase, { runs: () => runs });
}

describe('the Idempotency-Key header', () => {
  it.each([
    undefined,
    '',
    '1',
    'not-a-uuid',
    randomUUID().slice(1),
    `${randomUUID()}0`,
    `{${randomUUID()}}`,
    `"${randomUUID()}`,
    `"${randomUUID()}";a=1`,
    ` ${randomUUID()}`,
  ])('is refused as %j where it is required', async (key) => {
    expect(await createThingWith({ headers: { 'Idempotency-Key': key } })).toMatchObject({
      status: 400,
      body: envelope('VALIDATION_ERROR', expect.stringContaining('Idempotency-Key')),
      runs: 0,
    });
  });

  it.each(['Idempotency-Key', 'idempotency-key', 'IDEMPOTENCY-KEY'])('may be written %s', async (name) => {
    const headers = { 'Idempotency-Key': undefined, [name]: randomUUID() };
    expect(await createThingWith({ headers })).toMatchObject({ status: 201 });
  });

  it('may be a quoted string, which is the same key', async () => {
    const [service, key] = [inMemory(), randomUUID()];
    const call = (given: string) =>
      createThingWith({ pathParameters, headers: { 'Idempotency-Key': given } }, service);
    expect(await call(`"${key}"`)).toMatchObject({ status: 201 });
    const again = await call(key.toUpperCase());
    expect([again.status, again.headers['Idempotency-Replayed']]).toEqual([201, 'true']);
  });

  it('is optional where it is only supported, but must be valid', async () => {
    const service = inMemory();
    const call = (key: string | undefined) =>
      send(honouring, service, aRequest(service, { headers: { 'Idempotency-Key': key } }), async () =>
        success({ name: 'x' }),
      );
    expect(await call(undefined)).toMatchObject({ status: 201 });
    expect(await call('1')).toMatchObject({ status: 400 });
  });

  it('has no meaning on routes that do not support it', async () => {
    const service = inMemory();
    const event = aRequest(service, { headers: { 'Idempotency-Key': 'anything' } });
    const answer = await send(ignoring, service, event, async ({ effect }) =>
      effect(success({ name: 'x' }), [aThing('thing')]),
    );
    expect(answer).toMatchObject({ status: 201 });
    expect(service.commits).toMatchObject([[{ write: 'thing' }]]);
  });
});

it('an empty effect is stored with its key, and starts no transaction without one', async () => {
  const service = inMemory();
  const nothing: UseCase<typeof honouring> = async ({ effect }) => effect(success({ name: 'x' }), []);
  const unkeyed = aRequest(service, { headers: { 'Idempotency-Key': undefined } });
  expect((await send(honouring, service, unkeyed, nothing)).status).toBe(201);
  expect(service.commits).toEqual([]);
  const key = randomUUID();
  const [first, again] = [
    await send(honouring, service, once(service, key), nothing),
    await send(honouring, service, once(service, key), nothing),
  ];
  expect(first.headers).not.toHaveProperty('Idempotency-Replayed');
  expect(again.headers).toMatchObject({ 'Idempotency-Replayed': 'true' });
});

it('a refused change may be answered by reading the item again', async () => {
  const service = inMemory();
  service.refusal = 'endpoint-changed';
  const answer = await send(thingRoute, service, aRequest(service), async ({ effect }) =>
    effect(success({ name: 'x' }), [aThing('thing')], {
      'endpoint-changed': async () => success({ name: 'as it is' }),
    }),
  );
  expect(answer).toMatchObject({ status: 201, body: { data: { name: 'as it is' } } });
});

describe('a repeated request with the same key', () => {
  it('gets the first answer, and has no second effect', async () => {
    const [service, useCase, key] = [inMemory(), counting(), randomUUID()];
    const first = await send(thingRoute, service, once(service, key), useCase);
    const again = await send(thingRoute, service, once(service, key), useCase);
    expect(first.headers).not.toHaveProperty('Idempotency-Replayed');
    expect(again).toEqual({
      ...first,
      // A replay is a request: it uses up the budget as well.
      headers: { ...first.headers, RateLimit: '"standard";r=8;t=42', 'Idempotency-Replayed': 'true' },
    });
    expect(service.commits).toHaveLength(1);
  });

  it('matches when its key differs in case and its body in formatting', async () => {
    const [service, useCase, key] = [inMemory(), counting(), randomUUID()];
    await send(thingRoute, service, once(service, key, { body: '{"name":"a thing","size":1}' }), useCase);
    const again = await send(
      thingRoute,
      service,
      once(service, key.toUpperCase(), { body: '{ "size": 1.0, "name": "a\\u0020thing" }' }),
      useCase,
    );
    expect(again).toMatchObject({ status: 201, headers: { 'Idempotency-Replayed': 'true' } });
    expect(service.commits).toHaveLength(1);
  });

  it.each([
    ['body', bodyOf('another')],
    ['path', { pathParameters: { id: newId('whk', NOW) } }],
  ])('is refused with another %s', async (_, change) => {
    const [service, useCase, key] = [inMemory(), counting(), randomUUID()];
    await send(thingRoute, service, once(service, key), useCase);
    const answer = await send(thingRoute, service, once(service, key, change), useCase);
    expect(answer).toMatchObject({ status: 422, body: envelope('IDEMPOTENCY_KEY_REUSED') });
    expect(answer.headers).not.toHaveProperty('Idempotency-Replayed');
    expect(service.commits).toHaveLength(1);
  });

  it('gets the first answer although it would be refused now', async () => {
    const [service, key] = [inMemory(), randomUUID()];
    const first = await send(thingRoute, service, once(service, key), createThing());
    const again = await send(thingRoute, service, once(service, key), async () =>
      refusals.tooMany('content sources', 1),
    );
    expect(again).toMatchObject({ status: 201, headers: { 'Idempotency-Replayed': 'true' } });
    expect(again.body).toEqual(first.body);
  });

  it('gets a secret that is never stored, each time', async () => {
    const service = inMemory();
    const key = randomUUID();
    const reveal = (data: unknown) => ({ name: `${Object(data).name} with its secret` });
    const call = () =>
      send(
        thingRoute,
        service,
        once(service, key),
        async ({ effect }) => effect(success({ name: 'a thing' }), []),
        reveal,
      );
    const [first, again] = [await call(), await call()];
    expect(first.body).toEqual({ success: true, data: { name: 'a thing with its secret' } });
    expect(again.body).toEqual(first.body);
    expect(JSON.stringify(service.commits)).not.toContain('secret');
  });
});

describe('the record of an answer', () => {
  it('is committed with the effect that it guards, before it', async () => {
    const service = inMemory();
    await createThingWith({}, service);
    expect(service.commits).toMatchObject([
      [
        { pk: expect.stringContaining('create-thing'), status: 201, data: '{"name":"a thing"}' },
        { write: 'a thing' },
      ],
    ]);
  });

  it('is stored for successes only: a refused request may be retried', async () => {
    const [service, key] = [inMemory(), randomUUID()];
    const refused = await send(thingRoute, service, once(service, key), async () => refusals.attemptRunning);
    expect(refused.status).toBe(409);
    expect(service.commits).toEqual([]);
    const useCase = counting();
    const again = await send(thingRoute, service, once(service, key), useCase);
    expect(again.status).toBe(201);
    expect(again.headers).not.toHaveProperty('Idempotency-Replayed');
    expect(service.commits).toHaveLength(1);
  });

  it('is not stored when the effect is refused, whose reason is the answer', async () => {
    const service = inMemory();
    service.refusal = 'endpoint-limit';
    const answer = await send(thingRoute, service, once(service, randomUUID()), async ({ effect }) =>
      effect(success({ name: 'x' }), [], { 'endpoint-limit': refusals.tooMany('content sources', 1) }),
    );
    expect(answer).toMatchObject({
      status: 409,
      body: envelope('LIMIT_EXCEEDED', refusals.tooMany('content sources', 1).message),
    });
    expect(service.commits).toEqual([]);
  });
});

describe('two concurrent requests with the same key', () => {
  /** A use case during which another request with the same key commits first. */
  const overtaken =
    (service: InMemory, key: string, data: string, fingerprint?: string): ThingUseCase =>
    async ({ tenant, effect }) => {
      const probe = inMemory();
      for (const [digest, apiKey] of service.keys) probe.keys.set(digest, apiKey);
      await send(thingRoute, probe, once(service, key), async (other) =>
        other.effect(success({ name: 'x' }), []),
      );
      const record = IdempotencyRecord.parse(probe.commits[0]?.[0]);
      await service.rememberMeanwhile(
        { tenant, route: thingRoute.name, key },
        { ...record, data, fingerprint: fingerprint ?? record.fingerprint },
      );
      return effect(success({ name: 'slower' }), [aThing('slower')]);
    };

  it('both get the answer of the faster one', async () => {
    const [service, key] = [inMemory(), randomUUID()];
    const useCase = overtaken(service, key, '{"name":"faster"}');
    const answer = await send(thingRoute, service, once(service, key), useCase);
    expect(answer).toMatchObject({
      status: 201,
      headers: { 'Idempotency-Replayed': 'true' },
      body: { data: { name: 'faster' } },
    });
    expect(service.commits).toEqual([]);
  });

  it('conflict when they are not the same', async () => {
    const [service, key] = [inMemory(), randomUUID()];
    const useCase = overtaken(service, key, '{"name":"faster"}', 'of another request');
    expect(await send(thingRoute, service, once(service, key), useCase)).toMatchObject({
      status: 422,
      body: envelope('IDEMPOTENCY_KEY_REUSED'),
    });
  });

  it('conflict while the answer of the faster one is not readable', async () => {
    const service = inMemory();
    service.refusal = 'idempotency-key-used';
    expect(await createThingWith({}, service)).toMatchObject({ status: 409, body: envelope('CONFLICT') });
  });
});
