import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { refusals } from '../../../functions/http/problem.ts';
import { success } from '../../../functions/http/reply.ts';
import type { Route } from '../../../functions/http/route.ts';
import { aRequest, createThingWith, envelope, send, thingRoute } from './call.ts';
import { inMemory } from './in-memory.ts';

const listRoute = {
  ...thingRoute,
  method: 'GET',
  idempotency: undefined,
  body: undefined,
  success: { status: 200, data: z.array(z.object({ name: z.string() })) },
} as const satisfies Route;

const deleteRoute = {
  ...listRoute,
  method: 'DELETE',
  success: { status: 204, data: z.undefined() },
} as const satisfies Route;

const COMMON = {
  'Content-Type': 'application/json',
  'Cache-Control': 'no-store',
  'Request-Id': 'extended-request-id',
};

describe('a path with surplus slashes', () => {
  it.each(['/v1/things/1/', '/v1//things/1', '//v1/things/1'])(
    'is 404 with any credential: %s',
    async (path) => {
      for (const headers of [{}, { Authorization: undefined }, { Authorization: 'Bearer nonsense' }])
        expect(await createThingWith({ path, headers })).toMatchObject({
          status: 404,
          body: envelope('NOT_FOUND', 'No such route.'),
          runs: 0,
        });
    },
  );
});

describe('a success response', () => {
  it('is an envelope, with the status of its route', async () => {
    const { status, body, headers } = await createThingWith();
    expect(status).toBe(201);
    expect(body).toEqual({ success: true, data: { name: 'a thing' } });
    expect(headers).toMatchObject(COMMON);
    expect(headers).not.toHaveProperty('Idempotency-Replayed');
  });

  it('has only the fields that its route declares, at any depth', async () => {
    const service = inMemory();
    const { body, text } = await send(listRoute, service, aRequest(service), async () =>
      success([{ name: 'one', secret: 'canary', pk: 'canary' }], { nextCursor: null }),
    );
    expect(body).toEqual({ success: true, data: [{ name: 'one' }], nextCursor: null });
    expect(text).not.toContain('canary');
  });

  it('has a cursor when there is a next page, and null otherwise', async () => {
    const service = inMemory();
    const list = (nextCursor: string | null) =>
      send(listRoute, service, aRequest(service), async () => success([], { nextCursor }));
    expect((await list('next')).body).toEqual({ success: true, data: [], nextCursor: 'next' });
    expect((await list(null)).body).toEqual({ success: true, data: [], nextCursor: null });
  });

  it('has the Location of a created resource', async () => {
    const service = inMemory();
    const { headers } = await send(thingRoute, service, aRequest(service), async ({ effect }) =>
      effect(success({ name: 'x' }, { location: '/api/v1/things/1' }), []),
    );
    expect(headers).toMatchObject({ Location: '/api/v1/things/1' });
  });

  it('has headers but no body with status 204', async () => {
    const service = inMemory();
    const { status, text, headers } = await send(deleteRoute, service, aRequest(service), async () =>
      success(undefined),
    );
    expect({ status, text }).toEqual({ status: 204, text: '' });
    expect(headers).toMatchObject({ 'Request-Id': 'extended-request-id' });
  });
});

describe('a problem from a use case', () => {
  it('is in the error envelope, with its own headers beside the common ones', async () => {
    const service = inMemory();
    const { status, body, headers } = await send(
      thingRoute,
      service,
      aRequest(service),
      async () => refusals.busy,
    );
    expect(status).toBe(503);
    expect(body).toEqual(envelope('SERVICE_UNAVAILABLE', refusals.busy.message));
    expect(headers).toMatchObject({ ...COMMON, 'Retry-After': '1' });
  });
});

describe('the id of a request', () => {
  it('cannot be chosen by the client', async () => {
    const { headers, text } = await createThingWith({
      headers: { 'Request-Id': 'chosen-by-client', 'X-Amzn-RequestId': 'chosen-by-client' },
    });
    expect(headers).toMatchObject({ 'Request-Id': 'extended-request-id' });
    expect(text).not.toContain('chosen-by-client');
  });
});
