import { describe, expect, it, vi } from 'vitest';
import * as z from 'zod/mini';
import { CreateChannel } from '../../../functions/api/channels/routes.ts';
import { routes } from '../../../functions/api/routes.ts';
import { UpdateOrganization } from '../../../functions/api/settings/routes.ts';
import { RegisterWebhook } from '../../../functions/api/webhooks/routes.ts';
import { success } from '../../../functions/http/reply.ts';
import type { Route } from '../../../functions/http/route.ts';
import { parseQuery } from '../../../functions/http/validation.ts';
import { aRequest, createThingWith, envelope, send, thingRoute } from './call.ts';
import { inMemory } from './in-memory.ts';

const TYPE = 'message.received';
const CANARY = 'canary-7f3a';
const KIB = 1024;
/** Valid JSON of exactly this many bytes. */
const jsonOf = (bytes: number): string => {
  const start = '{"name":"a thing","rest":"';
  return `${start}${'x'.repeat(bytes - start.length - 2)}"}`;
};
const base64 = (text: string) => ({ body: Buffer.from(text).toString('base64'), isBase64Encoded: true });

describe('a body', () => {
  it('may have 256 KiB and not a byte more', async () => {
    expect(await createThingWith({ body: jsonOf(256 * KIB) })).toMatchObject({ status: 201 });
    expect(await createThingWith({ body: jsonOf(256 * KIB + 1) })).toMatchObject({
      status: 413,
      body: envelope('PAYLOAD_TOO_LARGE', expect.stringContaining('262144')),
      runs: 0,
    });
  });

  it('is measured in bytes, not characters, and decoded from base64', async () => {
    const wide = JSON.stringify({ name: 'a thing', rest: 'ü'.repeat(131_100) });
    expect(wide.length).toBeLessThan(256 * KIB);
    expect(await createThingWith({ body: wide })).toMatchObject({ status: 413 });
    expect(await createThingWith(base64(jsonOf(256 * KIB)))).toMatchObject({ status: 201 });
    expect(await createThingWith(base64(jsonOf(256 * KIB + 1)))).toMatchObject({ status: 413 });
  });

  it.each([
    'application/json',
    'application/json; charset=utf-8',
    'APPLICATION/JSON',
    ' application/json ;q=1',
  ])('may be of the type %j', async (type) => {
    expect(await createThingWith({ headers: { 'Content-Type': type } })).toMatchObject({ status: 201 });
  });

  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonp',
    'application/vnd.api+json',
    'application/xml',
    'text/plain; application/json',
    '',
    undefined,
  ])('may not be of the type %j', async (type) => {
    expect(await createThingWith({ headers: { 'Content-Type': type } })).toMatchObject({
      status: 415,
      body: envelope('UNSUPPORTED_MEDIA_TYPE', expect.stringContaining('application/json')),
      runs: 0,
    });
  });

  it.each(['', '{', '{"name":}', "{'name':'x'}", 'name', '{"name":"a thing"} x', '\ufeff{}x'])(
    'is refused as invalid JSON when it is %j',
    async (body) => {
      expect(await createThingWith({ body })).toMatchObject({
        status: 400,
        body: envelope('VALIDATION_ERROR', 'The body is not valid JSON.'),
      });
    },
  );

  it('is refused when it is missing', async () => {
    const { status } = await createThingWith({ body: null, headers: { 'Content-Type': undefined } });
    expect(status).toBe(400);
  });

  it.each(['null', '[]', '"x"', '1', 'true'])('is refused as no object when it is %s', async (body) => {
    expect(await createThingWith({ body })).toMatchObject({
      status: 400,
      body: envelope('VALIDATION_ERROR', expect.stringMatching(/^The body must be an object/)),
    });
  });

  it('is checked by size, then type, then JSON, then shape', async () => {
    const oversized = 'x'.repeat(256 * KIB + 1);
    const plain = { 'Content-Type': 'text/plain' };
    expect(await createThingWith({ body: oversized, headers: plain })).toMatchObject({ status: 413 });
    expect(await createThingWith({ body: '{', headers: plain })).toMatchObject({ status: 415 });
    expect(await createThingWith({ body: '{' })).toMatchObject({
      body: envelope('VALIDATION_ERROR', 'The body is not valid JSON.'),
    });
  });

  it.each([
    '{"name":"a thing","admin":true}',
    '{"name":"a thing","__proto__":{"size":1}}',
    '{"name":"a thing","constructor":1}',
  ])('has no unknown fields: %s', async (body) => {
    expect(await createThingWith({ body })).toMatchObject({
      status: 400,
      body: envelope('VALIDATION_ERROR', expect.stringContaining('is not a known field')),
      runs: 0,
    });
  });

  it('is refused when its bytes are not UTF-8, and may contain U+FFFD', async () => {
    const ofBytes = (bytes: Buffer) =>
      createThingWith({ body: bytes.toString('base64'), isBase64Encoded: true });
    const [start, end] = [Buffer.from('{"name":"a '), Buffer.from('"}')];
    for (const bytes of [[0xff], [0xc3], [0xed, 0xa0, 0x80], [0xc0, 0x80]])
      expect(await ofBytes(Buffer.concat([start, Buffer.from(bytes), end]))).toMatchObject({
        status: 400,
        body: envelope('VALIDATION_ERROR', 'The body must be valid UTF-8.'),
        runs: 0,
      });
    expect(await ofBytes(Buffer.alloc(256 * KIB + 1, 0xff))).toMatchObject({ status: 413 });
    expect(await ofBytes(Buffer.concat([start, Buffer.from('\ufffd'), end]))).toMatchObject({ status: 201 });
  });

  it('is an empty object or nothing where a route has none', async () => {
    const bodiless = { ...thingRoute, body: undefined } as const satisfies Route;
    const call = (change: Parameters<typeof aRequest>[1]) => {
      const service = inMemory();
      return send(bodiless, service, aRequest(service, change), async ({ body }) => {
        expect(body).toBeUndefined();
        return success({ name: 'x' });
      });
    };
    expect(await call({ body: '{}' })).toMatchObject({ status: 201 });
    expect(await call({ body: '{"anything":true}' })).toMatchObject({ status: 400 });
    expect(await call({ body: null, headers: { 'Content-Type': undefined } })).toMatchObject({ status: 201 });
    expect(await call({ body: '{' })).toMatchObject({ status: 400 });
    expect(await call({ headers: { 'Content-Type': 'text/plain' } })).toMatchObject({ status: 415 });
    expect(await call({ body: jsonOf(256 * KIB + 1) })).toMatchObject({ status: 413 });
  });

  it.each(['GET', 'DELETE'] as const)('is ignored with %s', async (method) => {
    const service = inMemory();
    const route = { ...thingRoute, method, idempotency: undefined, body: undefined } as const satisfies Route;
    const event = aRequest(service, { body: '{', headers: { 'Content-Type': 'text/plain' } });
    expect(await send(route, service, event, async () => success({ name: 'x' }))).toMatchObject({
      status: 201,
    });
  });

  it.each(['gzip', 'identity', ''])('is refused with the Content-Encoding %j', async (coding) => {
    expect(await createThingWith({ headers: { 'Content-Encoding': coding } })).toMatchObject({
      status: 415,
      body: envelope('UNSUPPORTED_MEDIA_TYPE', 'The body must be sent without a Content-Encoding.'),
      runs: 0,
    });
  });

  it.each([
    ['{"name":"a thing","name":"another"}', 'name'],
    ['{"name":"a thing","n\\u0061me":"another"}', 'name'],
    ['{"name" : "a thing", "tags":["a:","b"], "tags" : []}', 'tags'],
    ['{"name":"a \\"thing\\":","rest":"{\\"name\\":1}","rest":"x"}', 'rest'],
    ['{"ck_live_abc":1,"ck_live_abc":1,"name":"a thing"}', 'a field'],
  ])('is refused when a name is repeated: %s', async (body, field) => {
    const answer = await createThingWith({ body });
    expect([answer.status, answer.runs]).toEqual([400, 0]);
    expect(Object(answer.body).error.details).toContainEqual({
      field,
      code: 'duplicate',
      message: 'must not be repeated',
    });
  });

  it('may have the same name in other objects and in texts', async () => {
    const body = JSON.stringify({ name: '"name":', rest: '{"name":1,"name":2}', tags: ['name:', 'name'] });
    expect(await createThingWith({ body })).toMatchObject({ status: 201 });
  });

  it('may have null for an optional field, which then counts as absent', async () => {
    const body = JSON.stringify({ name: 'a thing', size: null, tags: null, rest: null });
    expect(await createThingWith({ body })).toMatchObject({ status: 201 });
    expect(await createThingWith({ body: '{"name":null,"size":null}' })).toMatchObject({
      status: 400,
      body: envelope('VALIDATION_ERROR', 'name must be a string.'),
    });
  });

  it('may be omitted where all of it is optional, and then counts as empty', async () => {
    const route = {
      ...thingRoute,
      body: z._default(z.object({ by: z._default(z.string(), 'api') }), { by: 'api' }),
    } as const satisfies Route;
    const seen: unknown[] = [];
    const call = (change: Parameters<typeof aRequest>[1]) => {
      const service = inMemory();
      return send(route, service, aRequest(service, change), async ({ body }) => {
        seen.push(body);
        return success({ name: 'x' });
      });
    };
    await call({ body: null, headers: { 'Content-Type': undefined } });
    await call({ body: '' });
    await call({ body: '{}' });
    await call({ body: '{"by":"ada"}' });
    expect(seen).toEqual([{ by: 'api' }, { by: 'api' }, { by: 'api' }, { by: 'ada' }]);
    expect(await call({ body: '{"by":1}' })).toMatchObject({ status: 400 });
    expect(await call({ body: 'null' })).toMatchObject({ status: 400 });
    expect(await call({ body: 'by=ada', headers: { 'Content-Type': undefined } })).toMatchObject({
      status: 415,
    });
  });
});

describe('a message about a wrong field', () => {
  it.each([
    [{}, 'name is required.'],
    [{ name: null }, 'name must be a string.'],
    [{ name: 1 }, 'name must be a string.'],
    [{ name: 'x' }, 'name must have at least 2 characters.'],
    [{ name: CANARY.repeat(3) }, 'name must have at most 20 characters.'],
    [{ name: 'a thing', size: CANARY }, 'size must be a number.'],
    [{ name: 'a thing', size: 101 }, 'size must be at most 100.'],
    [{ name: 'a thing', size: -1 }, 'size must be at least 0.'],
    [{ name: 'a thing', tags: CANARY }, 'tags must be an array.'],
    [{ name: 'a thing', tags: [] }, 'tags must have at least 1 item.'],
    [{ name: 'a thing', tags: ['aa', 'bb', 'cc'] }, 'tags must have at most 2 items.'],
    [{ name: 'a thing', tags: ['aa', 7] }, 'tags.1 must be a string.'],
    [{ name: 1, size: CANARY }, 'name must be a string. size must be a number.'],
    [{ name: 'a thing', sizes: 1 }, 'sizes is not a known field (nearest: size).'],
    [
      { nmae: 'x', tags: [] },
      'name is required. tags must have at least 1 item. nmae is not a known field (nearest: name).',
    ],
    [{ name: 'a thing', [`${'x'.repeat(65)}`]: 1 }, expect.stringMatching(/^a field is not a known field/)],
    [{ name: 'a thing', ck_live_abc: 1 }, expect.stringMatching(/^a field is not a known field/)],
  ])('is, for %j, %s', async (sent, message) => {
    expect(await createThingWith({ body: JSON.stringify(sent) })).toMatchObject({
      status: 400,
      body: envelope('VALIDATION_ERROR', message),
      runs: 0,
    });
  });

  it('stays short, however many fields are wrong or unknown', async () => {
    const many = Array.from({ length: 20_000 }, (_, index) => [`f${index}`, 1]);
    for (const body of [
      { name: 'a thing', tags: Array.from({ length: 60_000 }, () => 'x') },
      { name: 'a thing', ...Object.fromEntries(many) },
    ]) {
      const { status, text } = await createThingWith({ body: JSON.stringify(body) });
      expect(status).toBe(400);
      expect(text.length).toBeLessThan(4_000);
    }
  });

  it('has each fault in `details`, the first of each field', async () => {
    const sent = { nmae: 'x', size: 101, tags: [] };
    const { body } = await createThingWith({
      body: JSON.stringify(sent),
      queryStringParameters: {},
    });
    expect(Object(body).error?.details).toEqual([
      { field: 'name', code: 'required', message: 'is required' },
      { field: 'size', code: 'too_large', message: 'must be at most 100', limit: 100 },
      { field: 'tags', code: 'too_few', message: 'must have at least 1 item', limit: 1 },
      { field: 'nmae', code: 'unknown_field', message: 'is not a known field (nearest: name)' },
    ]);
  });

  const hook = { url: 'https://a.example.com', events: [TYPE] };
  it.each<[z.ZodMiniType, object, object]>([
    [RegisterWebhook, { ...hook, events: ['x'] }, { field: 'events.0', code: 'not_allowed' }],
    [RegisterWebhook, { ...hook, events: [TYPE, TYPE] }, { field: 'events', code: 'duplicate' }],
    [RegisterWebhook, { ...hook, url: 'http://a.example.com' }, { field: 'url', code: 'url_scheme' }],
    [RegisterWebhook, { ...hook, url: `https://a/${'a'.repeat(2048)}` }, { code: 'too_long', limit: 2048 }],
    [RegisterWebhook, { ...hook, description: '😀'.repeat(201) }, { code: 'too_long', limit: 200 }],
    [RegisterWebhook, { ...hook, description: '\u0007' }, { code: 'invalid_characters' }],
    [RegisterWebhook, { ...hook, maxPerSecond: 1.5 }, { field: 'maxPerSecond', code: 'invalid_type' }],
    [CreateChannel, { kind: 'http', name: 'x' }, { field: 'url', code: 'required' }],
    [CreateChannel, { kind: 'web_widget', name: 'x', url: hook.url }, { code: 'not_allowed' }],
    [UpdateOrganization, { contentChangeThreshold: 1.234 }, { code: 'invalid_format' }],
    [UpdateOrganization, { contentChangeThreshold: 101 }, { code: 'too_large', limit: 100 }],
  ])('has a code for programs: %#', async (body, sent, fault) => {
    const service = inMemory();
    const event = aRequest(service, { body: JSON.stringify(sent) });
    const { body: refused } = await send({ ...thingRoute, body }, service, event, async () =>
      success({ name: 'x' }),
    );
    expect(Object(refused).error.details).toEqual([expect.objectContaining(fault)]);
  });

  it.each([
    ['an unknown parameter', { veiw: 'short' }, {}, 'veiw is not a known parameter (nearest: view).'],
    ['a repeated parameter', { view: 'long' }, { view: ['short', 'long'] }, 'view must not be repeated.'],
  ])('of the query is %s', async (_, queryStringParameters, multiValueQueryStringParameters, message) => {
    expect(await createThingWith({ queryStringParameters, multiValueQueryStringParameters })).toMatchObject({
      status: 400,
      body: envelope('VALIDATION_ERROR', message),
      runs: 0,
    });
  });

  it.each(['Authorization', 'Idempotency-Key'])('is of a repeated header %s, in any case', async (name) => {
    const multiValueHeaders = { [name]: ['one'], [name.toLowerCase()]: ['another'] };
    expect(await createThingWith({ multiValueHeaders })).toMatchObject({
      status: 400,
      body: envelope('VALIDATION_ERROR', `${name} must not be repeated.`),
      runs: 0,
    });
  });

  it.each(['+01:00', ' 01:00', ' 00:00'])('accepts a time whose `+` arrived as a space: %j', (offset) => {
    const event = aRequest(inMemory(), { queryStringParameters: { from: `2026-11-20T10:30:00.5${offset}` } });
    expect(parseQuery(event, routes.listEvents)).toMatchObject({
      ok: true,
      value: { from: expect.any(Date) },
    });
  });

  it('names the permitted values', async () => {
    expect(await createThingWith({ queryStringParameters: { view: CANARY } })).toMatchObject({
      status: 400,
      body: envelope('VALIDATION_ERROR', 'view must be one of short, long.'),
    });
  });

  it.each<[string, Parameters<typeof aRequest>[1]]>([
    [
      'a field',
      { body: JSON.stringify({ name: CANARY.repeat(3), size: CANARY, tags: [CANARY, CANARY, CANARY] }) },
    ],
    ['an unknown field', { body: JSON.stringify({ other: CANARY }) }],
    ['broken JSON', { body: `{"name":"${CANARY}"` }],
    ['a body of another type', { body: CANARY, headers: { 'Content-Type': CANARY } }],
    ['an oversized body', { body: CANARY.repeat(30_000) }],
    ['a query', { queryStringParameters: { view: CANARY, other: CANARY } }],
    ['a parameter', { pathParameters: { id: CANARY } }],
    ['an idempotency key', { headers: { 'Idempotency-Key': CANARY } }],
    ['a key', { headers: { Authorization: `Bearer ${CANARY}` } }],
  ])('never repeats the value in %s', async (_, change) => {
    const service = inMemory();
    const { status, text, headers } = await createThingWith(change, service);
    expect(status).toBeGreaterThanOrEqual(400);
    expect(text + JSON.stringify(headers)).not.toContain(CANARY);
    expect(JSON.stringify(service.logger.lines)).not.toContain(CANARY);
  });
});

describe('a path parameter of an invalid form', () => {
  it.each(['1', 'whk_1', 'WHK_00000000000000000000000000000000', '../organization', '', 'evt_x#0'])(
    'such as %j is answered 404',
    async (id) => {
      expect(await createThingWith({ pathParameters: { id } })).toMatchObject({
        status: 404,
        body: envelope('NOT_FOUND'),
        runs: 0,
      });
    },
  );

  it('is answered 204 by a DELETE', async () => {
    const service = inMemory();
    const deleting = {
      ...thingRoute,
      method: 'DELETE',
      idempotency: undefined,
      body: undefined,
      success: { status: 204, data: thingRoute.success.data },
    } as const satisfies Route;
    const useCase = vi.fn(async () => success(undefined));
    const event = aRequest(service, { pathParameters: { id: 'whk_1' } });
    expect(await send(deleting, service, event, useCase)).toMatchObject({ status: 204, text: '' });
    expect(useCase).not.toHaveBeenCalled();
  });
});
