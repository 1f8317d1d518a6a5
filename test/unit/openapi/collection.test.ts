import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { routes } from '../../../functions/api/routes.ts';
import { NO_FIELDS, type Route } from '../../../functions/http/route.ts';
import {
  COLLECTION,
  type CollectionRequest,
  collectionOf,
  collectionText,
} from '../../../lib/openapi/collection.ts';
import { document } from './examples.ts';

const collection = collectionOf(document);
const requests = collection.item.flatMap(({ name: folder, item }) =>
  item.map((entry) => ({ folder, ...entry })),
);
const variables = new Map(collection.variable.map(({ key, value }) => [key, value]));
const filled = (text: string): string =>
  text.replaceAll(/\{\{(\w+)\}\}/g, (_, name) => variables.get(name) ?? '');
const pathOf = ({ request: { url } }: CollectionRequest): string =>
  `/${url.path.join('/')}`.replaceAll(/:(\w+)/g, '{$1}');
const all = Object.values<Route>(routes).filter(({ role }) => role === undefined);

describe('the collection of requests', () => {
  it('is the committed file: npm run generate -- collection', () => {
    expect(readFileSync(join(import.meta.dirname, '../../..', COLLECTION), 'utf8')).toBe(collectionText());
  });

  it('has every operation once, in the folder of its tag', () => {
    const operations = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, { tags, summary }]) =>
        [tags[0], method.toUpperCase(), path, summary].join(' '),
      ),
    );
    const entries = requests.map((entry) =>
      [entry.folder, entry.request.method, pathOf(entry), entry.name].join(' '),
    );
    expect(entries.toSorted()).toEqual(operations.toSorted());
  });

  it('is of the format that Postman and Bruno import', () => {
    expect(Object.keys(collection)).toEqual(['info', 'auth', 'event', 'variable', 'item']);
    expect(collection.info.schema).toMatch(/\/v2\.1\.0\/collection\.json$/);
    for (const { request, response } of requests) {
      const { raw, host, path, variable } = request.url;
      expect(raw).toBe([...host, ...path].join('/'));
      expect(variable.map(({ key }) => `:${key}`)).toEqual(path.filter((step) => step.startsWith(':')));
      expect(response).toEqual([]);
    }
  });

  it('uses no variable that it does not have', () => {
    const used = new Set(
      [...JSON.stringify(collection).matchAll(/\{\{([^}]+)\}\}/g)].map(([, name]) => name),
    );
    expect([...used].filter((name) => !variables.has(String(name)))).toEqual(['$guid']);
    expect([...variables.keys()].filter((name) => !used.has(name))).toEqual([]);
  });

  it.each(requests.map((entry) => [`${entry.request.method} ${pathOf(entry)}`, entry] as const))(
    'sends what the service accepts: %s',
    (_, entry) => {
      const { method, auth = collection.auth, header, body, url } = entry.request;
      const route = all.find((one) => `${one.method} /api${one.path}` === `${method} ${pathOf(entry)}`);
      if (route === undefined) throw new Error('there is no such route');
      const { success } = route.body?.safeParse(body && JSON.parse(filled(body.raw))) ?? { success: true };
      expect([success, body !== undefined]).toEqual([true, route.body !== undefined]);
      const path = Object.fromEntries(url.variable.map(({ key, value }) => [key, filled(value)]));
      expect((route.params ?? NO_FIELDS).safeParse(path).success).toBe(true);
      const query = Object.fromEntries(url.query.map(({ key, value }) => [key, value]));
      expect((route.query ?? NO_FIELDS).safeParse(query)).toMatchObject({ success: true });
      const idempotencyKeys = header.filter(({ key }) => key === 'Idempotency-Key');
      expect(idempotencyKeys.length > 0).toBe(route.idempotency !== undefined);
      expect(header.length).toBe(idempotencyKeys.length + (body === undefined ? 0 : 1));
      expect(auth.bearer[0]?.value).toBe(`{{${route.visitor ? 'visitorToken' : 'apiKey'}}}`);
    },
  );
});

describe('the script of the collection', () => {
  const run = (code: number, body: unknown): Record<string, unknown> => {
    const stored: Record<string, unknown> = {};
    const set = (name: string, value: unknown) => {
      stored[name] = value;
    };
    const script = collection.event.flatMap(({ script: { exec } }) => exec).join('\n');
    runInNewContext(script, { pm: { response: { code, json: () => body }, collectionVariables: { set } } });
    return stored;
  };

  it('stores identifiers of a response for the requests that follow', () => {
    const conversationId = variables.get('conversationId');
    const data = { id: conversationId, channelId: 'chn_web' };
    expect(run(201, { success: true, data })).toEqual({ conversationId });
    expect(run(200, { success: true, data: [data, { id: 'cnv_other' }] })).toEqual({ conversationId });
    expect(run(202, { success: true, data: { eventId: 'evt_1', deliveryId: 'dlv_1' } })).toEqual({
      eventId: 'evt_1',
      deliveryId: 'dlv_1',
    });
    expect(run(201, { success: true, data: { token: 'cvt_1' } })).toEqual({ visitorToken: 'cvt_1' });
  });

  it('stores nothing of other responses', () => {
    expect(run(200, { success: true, data: [] })).toEqual({});
    expect(run(200, { success: true, data: { name: 'no identifier' } })).toEqual({});
    expect(run(404, { error: { id: 'cnv_1' } })).toEqual({});
    expect(run(204, undefined)).toEqual({});
  });
});
