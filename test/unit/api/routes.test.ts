import { globSync } from 'node:fs';
import { basename } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { routes } from '../../../functions/api/routes.ts';
import { NO_FIELDS, type Route, settingsPath } from '../../../functions/http/route.ts';

const all: Route[] = Object.values(routes);
const directory = new URL('../../../functions/api/', import.meta.url);
/** Files in the folder of a resource that contain no route. */
const SHARED = ['routes.ts', 'deliveries.ts', 'records.ts', 'session.ts'];
/** Routes of the service's data; sign-in and the documentation are beside the API. */
const files = globSync('*/*.ts', { cwd: directory, exclude: ['sign-in', 'documentation'] }).map((file) =>
  basename(file),
);

const parseNames = (path: string): string[] =>
  [...path.matchAll(/\{([^}]+)\}/g)].map(([, name = '']) => name);

/** The keys of an object schema. */
function listKeys(schema: z.ZodMiniType): string[] {
  if (!(schema instanceof z.ZodMiniObject)) throw new Error('a schema of parameters is one of an object');
  return Object.keys(schema.shape);
}

describe('route table', () => {
  it('has a unique name for each route', () => {
    expect(new Set(all.map((route) => route.name)).size).toBe(all.length);
  });

  it('has each method of a path once', () => {
    // Paths that differ only in a parameter's name are the same path.
    const methodPaths = all.flatMap((route) =>
      [route.path, settingsPath(route) ?? []].flat().map((path) => [route.method, path]),
    );
    const places = methodPaths.map(([method, path]) => `${method} ${path?.replaceAll(/\{[^}]+\}/g, '{}')}`);
    expect(new Set(places).size).toBe(places.length);
  });

  it('has exactly one route for each file of a route', () => {
    const ofRoutes = files.filter((file) => !SHARED.includes(file));
    expect(ofRoutes.sort()).toEqual(all.map((route) => `${route.name}.ts`).sort());
  });

  it('returns every list in pages', () => {
    for (const route of all.filter(({ name }) => name.startsWith('list-')))
      expect(listKeys(route.query ?? NO_FIELDS)).toEqual(expect.arrayContaining(['cursor', 'limit']));
  });
});

describe.each(all.map((route) => [`${route.method} ${route.path}`, route] as const))('%s', (_, route) => {
  it('belongs to version 1 or to the settings, and has a well-formed path', () => {
    expect(route.path).toMatch(/^\/(v1|settings)(\/([a-z-]+|\{[a-zA-Z]+\}))+$/);
  });

  it('accepts API keys in version 1, visitor tokens in the widget, and sessions in settings', () => {
    const settings = route.path.startsWith('/settings/');
    const visitor = route.path.startsWith('/v1/widget/');
    expect([route.scope !== undefined, route.role !== undefined, route.visitor === true]).toEqual([
      !settings && !visitor,
      settings,
      visitor,
    ]);
    if (settings && route.method !== 'GET') expect(route.role).toBe('admin');
  });

  it('lets members read and admins change in its session mode, if it has one', () => {
    if (route.dashboard) expect(route.dashboard).toBe(route.method === 'GET' ? 'member' : 'admin');
  });

  it('accepts the parameters that its path names', () => {
    expect(listKeys(route.params ?? NO_FIELDS).sort()).toEqual(parseNames(route.path).sort());
  });

  it('rejects a parameter that is no id', () => {
    const names = parseNames(route.path);
    const values = Object.fromEntries(names.map((name) => [name, '..']));
    // A customer's own identifier is any text.
    const isId = (name: string) => name !== 'externalUserId';
    expect((route.params ?? NO_FIELDS).safeParse(values).success).toBe(!names.some(isId));
  });

  it('needs a read scope for reading, and a write scope for writing', () => {
    if (route.scope) expect(route.scope.split(':')[0]).toBe(route.method === 'GET' ? 'read' : 'write');
  });

  it('accepts an Idempotency-Key exactly when it is a POST of version 1', () => {
    expect(route.idempotency !== undefined).toBe(route.method === 'POST' && route.path.startsWith('/v1/'));
  });

  it('has a sunset after its deprecation', () => {
    const { since, sunset } = route.deprecation ?? { since: true, sunset: '9999-01-01T00:00:00.000Z' };
    expect(new Date(sunset).getTime()).toBeGreaterThan(since === true ? 0 : new Date(since).getTime());
  });

  it('accepts a body only with POST and PATCH', () => {
    if (route.body) expect(['POST', 'PATCH']).toContain(route.method);
  });

  it('returns data, and 204 exactly when it deletes', () => {
    expect(route.success.status === 204).toBe(route.method === 'DELETE');
    if (route.method === 'GET') expect(route.success.status).toBe(200);
  });
});

/** Writes of data: they change no set-up (docs/specification.md, Audit log). */
const DATA_ROUTES = [
  'create-conversation',
  'create-message',
  'create-ticket',
  'create-visitor-token',
  'create-widget-message',
  'redeliver-delivery',
  'redeliver-to-channel',
  'request-handoff',
  'resolve-conversation',
  'retry-channel-delivery',
  'retry-delivery',
  'sync-source',
  'test-channel',
  'test-webhook',
  'update-conversation',
  'update-ticket',
];

describe('the audit log', () => {
  it('has an action for every route that writes, except for those of data', () => {
    const writing = all.filter(({ method }) => method !== 'GET');
    const without = writing.filter(({ audit }) => audit === undefined || audit === 'none');
    expect(without.map(({ name }) => name).toSorted()).toEqual(DATA_ROUTES);
    for (const { audit } of all.filter(({ method }) => method === 'GET')) expect(audit).toBeUndefined();
  });
});

describe('registration of an endpoint, and the tests of receivers', () => {
  it.each([routes.registerWebhook, routes.testWebhook, routes.testChannel])(
    'need an Idempotency-Key: $name',
    (route) => {
      expect(route.idempotency).toBe('required');
    },
  );
});

describe('secret of an API key', () => {
  it('is only in the answer to its creation', () => {
    const key = {
      id: `key_${'0'.repeat(32)}`,
      orgId: `org_${'0'.repeat(32)}`,
      environment: 'live',
      name: 'Test key',
      scopes: ['read:webhooks'],
      createdAt: '2026-11-20T09:30:00.000Z',
      secretOnce: 'ck_live_canary',
      digest: 'digest-canary',
    };
    expect(JSON.stringify(routes.createApiKey.success.data.parse(key))).toContain('ck_live_canary');
    expect(JSON.stringify(routes.createApiKey.success.data.parse(key))).not.toContain('digest-canary');
    expect(JSON.stringify(routes.listApiKeys.success.data.parse([key]))).not.toContain('canary');
  });
});

describe('secret of an endpoint', () => {
  it('is only in the answer to its registration', () => {
    const secret = { secret: 'whsec_canary' };
    const webhook = {
      id: `whk_${'0'.repeat(32)}`,
      url: 'https://receiver.example.com/',
      events: ['ticket.created'],
      status: 'active',
      consecutiveFailures: 0,
      createdAt: '2026-11-20T09:30:00.000Z',
      keyVersion: '1',
      orgId: `org_${'0'.repeat(32)}`,
    };
    const built = (route: Route, data: unknown) => JSON.stringify(route.success.data.parse(data));
    expect(built(routes.registerWebhook, { ...webhook, ...secret })).toContain('canary');
    expect(built(routes.readWebhook, { ...webhook, ...secret })).not.toContain('canary');
    expect(built(routes.updateWebhook, { ...webhook, ...secret })).not.toContain('canary');
    expect(built(routes.listWebhooks, [{ ...webhook, ...secret }])).not.toContain('canary');
    expect(built(routes.registerWebhook, { ...webhook, ...secret })).not.toMatch(/keyVersion|orgId/);
  });
});
