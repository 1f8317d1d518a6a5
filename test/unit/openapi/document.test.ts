import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { routes } from '../../../functions/api/routes.ts';
import { PROBLEM_STATUS } from '../../../functions/http/problem.ts';
import type { Route } from '../../../functions/http/route.ts';
import { openApiCommand } from '../../../lib/openapi/command.ts';
import { openApiDocument } from '../../../lib/openapi/document.ts';
import type { OpenApiDocument, Operation, Response, Schema } from '../../../lib/openapi/openapi.ts';
import { BODIES, OPERATIONS } from '../../../lib/openapi/operations.ts';
import { isPaged, problemsOf } from '../../../lib/openapi/problems.ts';
import { withSessionRoutes } from '../../../lib/openapi/session-routes.ts';
import { dashboard, document } from './examples.ts';

const all = Object.entries(withSessionRoutes(routes));
const documentOf = ({ role }: Route): OpenApiDocument => (role === undefined ? document : dashboard);
const DOCUMENTS: [string, OpenApiDocument][] = [
  ['the public document', document],
  ["the dashboard's document", dashboard],
];

const operationOf = (of: OpenApiDocument, { path, method }: Pick<Route, 'path' | 'method'>): Operation => {
  const operation = of.paths[`/api${path}`]?.[method.toLowerCase()];
  if (operation === undefined) throw new Error(`no operation ${method} ${path}`);
  return operation;
};

/** The target of a reference, or the value itself. */
const resolved = <T>(of: OpenApiDocument, thing: unknown): T => {
  const { $ref } = Object(thing) as { $ref?: string };
  if ($ref === undefined) return thing as T;
  const target: unknown = $ref
    .split('/')
    .slice(1)
    .reduce<unknown>((node, step) => Object(node)[step], of);
  if (target === undefined) throw new Error(`nothing is at ${$ref}`);
  return target as T;
};

const parametersOf = (operation: Operation, of: OpenApiDocument) =>
  (operation.parameters ?? []).map((parameter) =>
    resolved<{ name: string; in: string; required?: boolean; schema: Schema }>(of, parameter),
  );

/** Names of a route's query parameters. */
const queryParametersOf = ({ query }: Route): string[] => Object.keys(query?.shape ?? {});

const pascal = (name: string): string => `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`;

/** All objects in the document. */
function nodes(node: unknown): Record<string, unknown>[] {
  if (typeof node !== 'object' || node === null) return [];
  const deeper = Object.values(node).flatMap(nodes);
  return Array.isArray(node) ? deeper : [node as Record<string, unknown>, ...deeper];
}

describe('docs/openapi', () => {
  it('matches the route table; if not, update it with "npm run generate -- openapi"', () => {
    const said: string[] = [];
    const say = (text: string) => void said.push(text);
    openApiCommand(['--check'], { directory: 'docs', out: say, err: say });
    expect(said.join('')).toMatch(/up to date/);
  });
});

describe.each(DOCUMENTS)('%s', (_, document) => {
  it('has exactly the operations of the route table for its callers, at their paths', () => {
    const operations = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, { operationId }]) => [
        operationId,
        `${method.toUpperCase()} ${path}`,
      ]),
    );
    expect(Object.fromEntries(operations)).toEqual(
      Object.fromEntries(
        all
          .filter(([, route]) => documentOf(route) === document)
          .map(([key, { method, path }]) => [key, `${method} /api${path}`]),
      ),
    );
  });

  it('has exactly the components that it refers to', () => {
    const refs = new Set(nodes(document).flatMap(({ $ref }) => (typeof $ref === 'string' ? [$ref] : [])));
    for (const ref of refs) expect(() => resolved(document, { $ref: ref })).not.toThrow();
    for (const kind of ['schemas', 'responses', 'parameters', 'headers'] as const)
      for (const name of Object.keys(document.components[kind]))
        expect(refs).toContain(`#/components/${kind}/${name}`);
  });

  it('forbids unknown fields in requests only, and describes objects with any names', () => {
    const { schemas } = document.components;
    const strict = Object.keys(schemas).filter((name) => schemas[name]?.additionalProperties === false);
    const bodies = Object.keys(BODIES).filter((name) => name in schemas);
    const requested = bodies.flatMap((name) => [
      name,
      ...(schemas[name]?.oneOf ?? []).map(({ $ref = '' }) => $ref.split('/').at(-1)),
    ]);
    expect(strict.sort()).toEqual(requested.filter((name) => !schemas[name ?? '']?.oneOf).sort());
    const others = nodes(document).flatMap(({ additionalProperties }) => additionalProperties || []);
    // Headers of a request, metadata, and twice the data of an event, whose fields depend on its type.
    const of = Map.groupBy(others, (schema) => Object(schema).type);
    expect([...of.keys()]).toEqual(['string', undefined]);
    expect(of.get(undefined)).toEqual([{}, {}]);
  });

  it('says of exactly the lists that refuse duplicates that their items are distinct', () => {
    for (const [name, { schema }] of Object.entries(BODIES)) {
      const { properties = {} } = document.components.schemas[name] ?? {};
      for (const [field, { type, items, uniqueItems = false }] of Object.entries(properties)) {
        if (type !== 'array') continue;
        const [value] = resolved<Schema>(document, items).enum ?? [];
        const refusals = (schema.safeParse({ [field]: [value, value] }).error?.issues ?? []).filter(
          ({ path }) => path[0] === field,
        );
        expect(refusals.length > 0, `${name}.${field}`).toBe(uniqueItems);
      }
    }
  });

  it('describes every field', () => {
    // Of an envelope, the name of the content says it.
    for (const [name, { properties = {} }] of Object.entries(document.components.schemas))
      for (const [field, { description, ...schema }] of Object.entries(properties))
        if (!/(Response|Page)$/.test(name) || !('$ref' in schema || 'items' in schema))
          expect(description, `${name}.${field}`).toMatch(/\.$/);
  });

  it('has no schema within an answer or a request, which generators would name for each operation', () => {
    for (const item of Object.values(document.paths))
      for (const { operationId, requestBody, responses } of Object.values(item)) {
        const contents = [
          requestBody,
          ...Object.values(responses).map((it) => resolved<Response>(document, it)),
        ];
        for (const content of contents)
          for (const { schema } of Object.values(content?.content ?? {}))
            expect(Object.keys(schema), operationId).toEqual(['$ref']);
      }
  });

  it('has a name for one component only, as generators make one type of each', () => {
    const { schemas, parameters, responses: answers } = document.components;
    const names = [schemas, parameters, answers].flatMap((components) => Object.keys(components));
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
    const responses = nodes(document.paths).map(({ operationId: id }) => `${pascal(String(id))}Response`);
    expect(names.filter((name) => responses.includes(name))).toEqual([]);
  });

  it('has no boolean constant, of which generators make an enumeration of texts', () => {
    expect(nodes(document).filter(({ const: constant }) => typeof constant === 'boolean')).toEqual([]);
  });

  it('says which characters each text of a request may have', () => {
    const free = Object.keys(BODIES).flatMap((name) =>
      nodes(document.components.schemas[name]).filter(
        ({ type, pattern, format, enum: values, const: constant }) =>
          [type].flat().includes('string') && !(pattern ?? format ?? values ?? constant),
      ),
    );
    // The rules of a receiver's URL are in its description.
    expect(free.filter(({ description }) => !/URL/.test(String(description)))).toEqual([]);
  });

  it('names every tag of its operations', () => {
    const tags = document.tags.map(({ name }) => name);
    for (const item of [...Object.values(document.paths), ...Object.values(document.webhooks)])
      for (const operation of Object.values(item))
        expect(tags).toEqual(expect.arrayContaining(operation.tags));
  });

  it('has a name for a response that every route with it shares', () => {
    const { responses } = document.components;
    expect(responses.RateLimited?.headers).toHaveProperty('Retry-After');
    expect(responses.ServiceUnavailable?.headers).toHaveProperty('Retry-After');
    expect(responses.AuthenticationError?.headers).toHaveProperty('WWW-Authenticate');
    expect(responses.AuthenticationError?.headers).not.toHaveProperty('RateLimit');
  });
});

describe('the public document', () => {
  it('has all events, which are delivered by POST', () => {
    expect(Object.keys(document.webhooks).sort()).toEqual([
      'channel.message',
      'channel.test',
      'conversation.created',
      'conversation.deleted',
      'conversation.resolved',
      'handoff.requested',
      'message.received',
      'ticket.created',
      'webhook.disabled',
      'webhook.failing',
      'webhook.recovered',
      'webhook.test',
    ]);
    for (const item of Object.values(document.webhooks)) expect(Object.keys(item)).toEqual(['post']);
  });

  it('says nothing of sessions, and names no operation of the dashboard', () => {
    const ids = nodes(dashboard.paths).flatMap(({ operationId }) => String(operationId ?? []));
    const words = new Set(JSON.stringify(document).match(/\w+/g));
    expect(ids.filter((id) => words.has(id))).toEqual([]);
    expect(JSON.stringify(document)).not.toMatch(/session|\/api\/settings|\bunits\b/i);
  });
});

describe.each(all)('the operation %s', (_, route) => {
  const document = documentOf(route);
  const operation = operationOf(document, route);

  it('has the parameters of the route', () => {
    const expected = [
      ...[...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => `path ${name} required`),
      ...queryParametersOf(route).map((name) => `query ${name}`),
      ...(route.idempotency === 'required' ? ['header Idempotency-Key required'] : []),
      ...(route.idempotency === 'honoured' ? ['header Idempotency-Key'] : []),
    ];
    expect(
      parametersOf(operation, document).map(
        (parameter) => `${parameter.in} ${parameter.name}${parameter.required ? ' required' : ''}`,
      ),
    ).toEqual(expected);
  });

  it('describes ids as the route accepts them', () => {
    for (const { name, schema } of parametersOf(operation, document).filter(
      // A contact has no id of this service.
      (parameter) => parameter.in === 'path' && parameter.name !== 'externalUserId',
    )) {
      const pattern = new RegExp(schema.pattern ?? '');
      const params = Object.fromEntries(
        parametersOf(operation, document).map((parameter) => [
          parameter.name,
          parameter.schema.examples?.[0],
        ]),
      );
      expect(route.params?.safeParse(params).success).toBe(true);
      for (const wrong of ['', '..', `${params[name]}0`]) {
        expect(pattern.test(wrong)).toBe(false);
        expect(route.params?.safeParse({ ...params, [name]: wrong }).success).toBe(false);
      }
    }
  });

  it('requires the credential of the route', () => {
    const { security, 'x-required-scope': scope, 'x-required-role': role } = operation;
    expect({ scope, role }).toEqual({ scope: route.scope, role: route.role });
    expect(security).toEqual(
      route.visitor
        ? [{ visitorToken: [] }]
        : route.scope === undefined
          ? [{ session: [] }, { sessionCookie: [] }]
          : [{ apiKey: [] }],
    );
    for (const requirement of security)
      expect(document.components.securitySchemes).toHaveProperty(Object.keys(requirement));
  });

  it('has a body exactly when the route does, optional only when the route accepts none', () => {
    expect(operation.requestBody !== undefined).toBe(route.body !== undefined);
    if (route.body) expect(operation.requestBody?.required).toBe(!route.body.safeParse(undefined).success);
  });

  it('answers with the success of the route, in its envelope', () => {
    const successes = Object.keys(operation.responses).filter((status) => status.startsWith('2'));
    expect(successes).toEqual(
      [route.success.unchanged, route.success.status].filter((status) => status !== undefined).map(String),
    );
    const { content } = resolved<{ content?: Record<string, { schema: Schema }> }>(
      document,
      operation.responses[route.success.status],
    );
    if (route.success.status === 204) expect(content).toBeUndefined();
    else
      expect(resolved<Schema>(document, content?.['application/json']?.schema).required).toEqual(
        ['success', 'data', isPaged(route) && 'nextCursor', route.success.followed && 'followCursor'].filter(
          Boolean,
        ),
      );
  });

  it('lists exactly the possible problems, under their statuses', () => {
    const types = Object.keys(operation.responses)
      .filter((status) => /^[45]\d\d$/.test(status))
      .flatMap((status) => {
        const response = resolved<Response>(document, operation.responses[status]);
        expect(response.content?.['application/json']?.schema).toEqual({
          $ref: '#/components/schemas/ErrorResponse',
        });
        return response['x-error-types'] ?? [];
      });
    expect(types.sort()).toEqual(problemsOf(route));
  });

  it('explains exactly its own problems', () => {
    const named = Object.keys(PROBLEM_STATUS).filter((type) => operation.description.includes(`\`${type}\``));
    expect(named.sort()).toEqual([...(route.refusals ?? [])].sort());
  });

  it('has the request’s id in every answer, and the rate limit in every success', () => {
    for (const response of Object.values(operation.responses))
      expect(resolved<{ headers: object }>(document, response).headers).toHaveProperty('Request-Id');
    const success = resolved<{ headers: object }>(document, operation.responses[route.success.status]);
    expect(success.headers).toMatchObject({ RateLimit: {}, 'RateLimit-Policy': {} });
    expect('Idempotency-Replayed' in success.headers).toBe(route.idempotency !== undefined);
  });
});

describe('a deprecated route', () => {
  const deprecation = { since: true, sunset: '2027-06-30T00:00:00.000Z' } as const;
  const documentWith = (guide?: string) => {
    const listTickets: Route = {
      ...routes.listTickets,
      deprecation: { ...deprecation, ...(guide === undefined ? {} : { guide }) },
    };
    return openApiDocument({ ...routes, listTickets }, OPERATIONS, 'v1');
  };

  it('is marked, and has the deprecation headers in every answer', () => {
    const announced = documentWith('https://docs.example.com/v2');
    const operation = operationOf(announced, routes.listTickets);
    expect(operation.deprecated).toBe(true);
    expect(Object.keys(operation.responses)).toContain('410');
    for (const [status, response] of Object.entries(operation.responses))
      if (status !== 'default')
        expect(resolved<{ headers: object }>(announced, response).headers, status).toMatchObject({
          Deprecation: {},
          Sunset: {},
          Link: {},
        });
  });

  it('has a Link only when there is a guide', () => {
    const announced = documentWith();
    const { headers } = resolved<{ headers: object }>(
      announced,
      operationOf(announced, routes.listTickets).responses[200],
    );
    expect(headers).not.toHaveProperty('Link');
  });

  it('does not change the other operations', () => {
    const announced = documentWith();
    for (const [key, route] of all)
      if (key !== 'listTickets' && documentOf(route) === document)
        expect(operationOf(announced, route)).toEqual(operationOf(document, route));
  });
});

describe('a second version', () => {
  const listTicketsV2: Route = {
    ...routes.listTickets,
    name: 'list-tickets-v2',
    path: '/v2/tickets',
    success: { status: 200, data: routes.readTicket.success.data },
  };
  const table = { ...routes, listTicketsV2 };
  const texts = {
    ...OPERATIONS,
    listTicketsV2: { ...OPERATIONS.readTicket, description: 'In another way.' },
  };

  it('does not change the document of the first', () => {
    expect(openApiDocument(table, texts, 'v1')).toEqual(document);
  });

  it('has a document of its own', () => {
    const second = openApiDocument(table, texts, 'v2');
    expect(second.info.version).toBe('2.0.0');
    expect(Object.keys(second.paths)).toEqual(['/api/v2/tickets']);
  });
});

describe('a route that the document cannot describe', () => {
  const build = (route: Route, texts: Parameters<typeof openApiDocument>[1]) => () =>
    openApiDocument({ readThing: route }, texts, 'v1');
  const texts = { readThing: OPERATIONS.readTicket };

  it.each([
    ['without a text', build(routes.readTicket, {}), /no text for the operation readThing/],
    [
      'with a path parameter of an unknown kind',
      build({ ...routes.readTicket, params: z.object({ id: z.string() }) }, texts),
      /no description of the path parameter id/,
    ],
    [
      'with a parameter of the query that it does not know',
      build({ ...routes.readTicket, query: z.object({ colour: z.optional(z.string()) }) }, texts),
      /no description of the query parameter colour/,
    ],
    [
      'with an unnamed answer',
      build({ ...routes.readTicket, success: { status: 200, data: z.any() } }, texts),
      /has no name/,
    ],
  ])('%s is refused', (_, attempt, message) => {
    expect(attempt).toThrow(message);
  });
});
