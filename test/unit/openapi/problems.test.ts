import { randomUUID } from 'node:crypto';
import type { Context } from 'aws-lambda';
import { describe, expect, it } from 'vitest';
import { routes } from '../../../functions/api/routes.ts';
import { newId } from '../../../functions/aws/ids.ts';
import { apiHandler } from '../../../functions/http/api.ts';
import {
  authenticateByMode,
  sessionAuthentication,
  visitorAuthentication,
} from '../../../functions/http/authentication.ts';
import { PROBLEM_STATUS } from '../../../functions/http/problem.ts';
import { success } from '../../../functions/http/reply.ts';
import type { Route } from '../../../functions/http/route.ts';
import type { Session } from '../../../functions/tenancy/tenant.ts';
import type { Visit } from '../../../functions/tenancy/visitor-token.ts';
import type { OperationText } from '../../../lib/openapi/operation-text.ts';
import { OPERATIONS } from '../../../lib/openapi/operations.ts';
import { PARAMETERS, parametersOf } from '../../../lib/openapi/parameters.ts';
import { PROBLEM_TEXTS, problemsOf } from '../../../lib/openapi/problems.ts';
import { buildSessionRoute, getSessionOperationId } from '../../../lib/openapi/session-routes.ts';
import { aSession, NOW } from '../../builders.ts';
import { aRequest } from '../http/call.ts';
import { aThing, type InMemory, inMemory } from '../http/in-memory.ts';

/** Failures that a request to a route can meet; each entry is one cause. */
interface Circumstances {
  event?: Parameters<typeof aRequest>[1];
  service?: (service: InMemory) => unknown;
  session?: Partial<Session>;
  thrown?: Error;
  route?: Partial<Pick<Route, 'deprecation'>>;
}

const OTHERS_KEY = randomUUID();
const throttled = Object.assign(new Error('slow down'), { name: 'ThrottlingException' });
const another = { fingerprint: 'of another request', status: 200, data: 'null' };

const mishaps = (route: Route): Record<string, Circumstances> => ({
  'no credential': { event: { headers: { Authorization: undefined } } },
  'a credential that may not do this': {
    service: (service) => {
      service.key.scopes = [];
    },
    session: { role: 'member' },
    ...(route.role === 'member' ? { event: { headers: { Authorization: `Bearer ${anApiKey}` } } } : {}),
  },
  'a spent budget': {
    service: (service) => {
      service.budget = 0;
    },
  },
  'a defect': { thrown: new Error('a defect') },
  'a busy dependency': { thrown: throttled },
  'an identifier of no form': {
    event: { pathParameters: Object.fromEntries(Object.keys(pathOf(route)).map((name) => [name, '..'])) },
  },
  'a number that is none': {
    event: { queryStringParameters: { limit: 'many', hours: 'many', after: 'many', months: 'many' } },
  },
  'an environment that is none': { event: { queryStringParameters: { environment: 'test' } } },
  'a sandbox that is not there': { event: { queryStringParameters: { environment: 'sandbox' } } },
  'broken JSON': { event: { body: '{' } },
  'a large body': { event: { body: 'x'.repeat(300_000) } },
  'another media type': { event: { headers: { 'Content-Type': 'text/plain' }, body: '{}' } },
  'an idempotency key of no form': { event: { headers: { 'Idempotency-Key': 'again' } } },
  'a request with the same key in progress': {
    service: (service) => {
      service.refusal = 'idempotency-key-used';
    },
  },
  'the key of another request': {
    event: { headers: { 'Idempotency-Key': OTHERS_KEY } },
    service: ({ tenant, rememberMeanwhile }) =>
      rememberMeanwhile(
        route.visitor
          ? { tenant: VISIT, route: `${route.name}#${VISIT.conversationId}`, key: OTHERS_KEY }
          : { tenant, route: route.name, key: OTHERS_KEY },
        another,
      ),
  },
});

const anApiKey = inMemory().secret;
const VISIT: Visit = {
  orgId: newId('org', NOW),
  generation: 0,
  conversationId: newId('cnv', NOW),
  expiresAt: NOW.toISOString(),
};

/** For requests without a key. */
function credentialOf({ role, visitor }: Route): Record<string, string> {
  if (visitor) return { Authorization: 'Bearer cvt_abc' };
  return role === undefined ? {} : { Authorization: 'Bearer a.b.c' };
}

/** Path parameters from the document's examples. */
const pathOf = (route: Route): Record<string, string> =>
  Object.fromEntries(
    parametersOf(route).flatMap(({ $ref }) => {
      const parameter = Object(PARAMETERS)[$ref.split('/').at(-1) ?? ''];
      return parameter.in === 'path' ? [[parameter.name, parameter.schema.examples[0]]] : [];
    }),
  );

/** A route as served in one authentication mode. */
interface Door {
  route: Route;
  /** The route itself, or its operation for sessions. */
  served: Route;
}

/** The error type of a route's answer, or undefined for a success. */
async function problemOf(
  { route, served }: Door,
  { body, data }: { body?: object; data?: unknown },
  { event, session, thrown, ...given }: Circumstances,
): Promise<string | undefined> {
  const service = inMemory();
  await given.service?.(service);
  const verify = async () => aSession({ orgId: service.tenant.orgId, ...session });
  const sessions = sessionAuthentication(verify, undefined);
  const authenticate = route.visitor
    ? visitorAuthentication(
        async () => VISIT,
        async () => ({ generation: 0 }),
        async () => false,
      )
    : route.role === undefined
      ? authenticateByMode(
          service.ports.authenticate,
          async () => sessions,
          async () => ({ pairing: undefined, sandbox: undefined }),
        )
      : sessions;
  const ports = { ...service.ports, authenticate };
  const handler = apiHandler({ ...route, ...given.route }, ports, async ({ effect }) => {
    if (thrown) throw thrown;
    // What the audit log records. On a route without an action it is a refusal that does not happen.
    const audited: Record<string, never> = { id: 'it' as never, changes: [] as never };
    return route.method === 'POST' ? effect(success(data), [aThing('it')], audited) : success(data);
  });
  const request = aRequest(service, {
    httpMethod: route.method,
    resource: served.path,
    pathParameters: pathOf(route),
    body: body === undefined ? null : JSON.stringify(body),
    ...event,
    headers: { ...credentialOf(served), ...event?.headers },
  });
  const answer = await handler(request, {} as Context);
  return answer.statusCode < 400 ? undefined : JSON.parse(answer.body).error.type;
}

const MODES = (Object.entries(routes) as [keyof typeof routes, Route][]).flatMap(([key, route]) => {
  const text: OperationText = OPERATIONS[key];
  const second = buildSessionRoute(route);
  return [
    [key as string, { route, served: route }, text] as const,
    ...(second ? [[getSessionOperationId(key), { route, served: second }, text] as const] : []),
  ];
});

describe.each(MODES)('%s', (_, mode, text) => {
  const { served } = mode;

  it('answers a request like the documented example with a success', async () => {
    expect(await problemOf(mode, text, {})).toBeUndefined();
  });

  it('meets exactly its documented problems', async () => {
    const met = new Set<string | undefined>();
    for (const circumstances of Object.values(mishaps(served)))
      met.add(await problemOf(mode, text, circumstances));
    met.delete(undefined);
    // The use case's own refusals have tests of their own.
    const byItself = new Set<string>(served.refusals ?? []);
    const documented = problemsOf(served).filter((type) => met.has(type) || !byItself.has(type));
    expect([...met].sort()).toEqual(documented);
  });

  it('is gone after its sunset, if it has one', async () => {
    const deprecation = { since: true, sunset: NOW.toISOString() } as const;
    // A registration can also be replayed after its endpoint was deleted.
    if (!served.refusals?.includes('GONE')) expect(problemsOf(served)).not.toContain('GONE');
    expect(problemsOf({ ...served, deprecation })).toContain('GONE');
    expect(await problemOf(mode, text, { route: { deprecation } })).toBe('GONE');
  });
});

describe('the problem types', () => {
  it('each have a text, and a message of the required form', () => {
    for (const type of Object.keys(PROBLEM_STATUS) as (keyof typeof PROBLEM_STATUS)[]) {
      const { description, messages, sessionMessages } = PROBLEM_TEXTS[type];
      expect(description).toMatch(/\.$/);
      for (const message of Object.values({ ...messages, ...sessionMessages }))
        expect(message).toMatch(/^\S.*(\.|…|-\d+)$/);
    }
  });
});
