import { describe, expect, it } from 'vitest';
import { breakingChanges } from '../../../lib/openapi/compatibility.ts';
import type { OpenApiDocument, Schema } from '../../../lib/openapi/openapi.ts';
import { lastRelease } from '../../compatibility/last-release.ts';
import { casesOf } from '../../support/cases.ts';
import { deepestIn, type Editable, edited, present } from './editable-document.ts';
import { document } from './examples.ts';

const release = lastRelease();

describe('the current API', () => {
  it.skipIf(release === undefined)('is compatible with that of the last release', () => {
    const released: OpenApiDocument = JSON.parse(release?.read('docs/openapi/v1.json') ?? '');
    expect(breakingChanges(released, document)).toEqual([]);
  });

  it('may get another event type (docs/specification.md, Versioning)', () => {
    let places = 0;
    const withAnother = (_: string, value: unknown): unknown => {
      const isList = Array.isArray(value) && value.includes('ticket.created');
      const isPattern = typeof value === 'string' && /^\^.*\|ticket\\\.created/.test(value);
      if (isList || isPattern) places += 1;
      if (isPattern) return value.replaceAll('|ticket\\.created', '|ticket\\.created|ticket\\.closed');
      return isList ? [...value, 'ticket.closed'] : value;
    };
    const later = JSON.parse(JSON.stringify(document), withAnother);
    expect(places).toBeGreaterThan(10);
    expect(breakingChanges(document, later)).toEqual([]);
    expect(breakingChanges(later, document)).not.toEqual([]);
  });

  it('cannot lose any field without a reported change', () => {
    /** A part of each schema's fields, or all. */
    const step = casesOf(3, 1);
    for (const name of Object.keys(document.components.schemas)) {
      const before = reaching(name);
      const schema = { ...present(before.components.schemas[name]) };
      const schemas = { ...before.components.schemas, [name]: schema };
      const after = { ...before, components: { ...before.components, schemas } };
      const whole = schema.properties ?? {};
      for (const field of Object.keys(whole).filter((_, index) => index % step === 0)) {
        const { [field]: _, ...others } = whole;
        schema.properties = others;
        expect(breakingChanges(before, after), `${name}.${field}`).not.toEqual([]);
      }
    }
  });
});

/** The names of the components that a part of the document references, directly. */
const referenced = (part: unknown): Set<string> =>
  new Set([...JSON.stringify(part).matchAll(/#\/components\/([^"]+)"/g)].map(([, found]) => String(found)));
const referencedBy = new Map<string, Set<string>>(
  Object.entries(document.components).flatMap(([kind, all]) =>
    Object.entries(all ?? {}).map(([key, part]) => [`${kind}/${key}`, referenced(part)] as const),
  ),
);
/** The names of the components that each path or event uses, directly or indirectly. */
const usesIn = (items: OpenApiDocument['paths']) =>
  Object.entries(items).map(([path, item]) => {
    const used = referenced(item);
    for (const each of used) for (const further of referencedBy.get(each) ?? []) used.add(further);
    return { only: { [path]: item }, used };
  });
const paths = usesIn(document.paths);
const webhooks = usesIn(document.webhooks);

/**
 * The document with only one path or event that uses a schema: comparing all of them for each field takes a
 * minute.
 */
function reaching(name: string): OpenApiDocument {
  const userIn = (all: typeof paths) => all.find(({ used }) => used.has(`schemas/${name}`))?.only;
  const path = userIn(paths);
  return { ...document, paths: path ?? {}, webhooks: (path === undefined && userIn(webhooks)) || {} };
}

type Edit = (parts: Editable) => void;

const set = (schema: Schema, name: string, property: Schema) => {
  schema.properties = { ...schema.properties, [name]: property };
};

const plain: Schema = { type: 'string' };

const ADDITIVE: Record<string, Edit> = {
  'nothing at all': () => undefined,
  'an operation': ({ document: all, operation }) => {
    all.paths['/more'] = { get: { ...operation, operationId: 'more' } };
  },
  'another method of a path': ({ document: all, operation }) => {
    all.paths['/things/{id}'] = { ...all.paths['/things/{id}'], get: { ...operation, operationId: 'read' } };
  },
  'another name of a path parameter': ({ document: all }) => {
    const { '/things/{id}': item, ...others } = all.paths;
    all.paths = { ...others, '/things/{thingId}': present(item) };
  },
  'an optional parameter': ({ operation }) => {
    operation.parameters = [
      ...(operation.parameters ?? []),
      { name: 'more', in: 'query', description: 'more', schema: plain },
    ];
  },
  'a parameter that is not required any more': ({ operation }) => {
    for (const parameter of operation.parameters ?? []) Object.assign(parameter, { required: false });
  },
  'an optional field of a request': ({ body }) => set(body, 'more', plain),
  'a body that may be left out': ({ operation }) => {
    present(operation.requestBody).required = false;
  },
  'a field of an answer': ({ answer }) => {
    set(answer, 'more', plain);
    answer.required = [...(answer.required ?? []), 'more'];
  },
  'a header of an answer': ({ operation }) => {
    for (const response of Object.values(operation.responses))
      Object.assign(response, {
        headers: { ...Object(response).headers, More: { description: 'x', schema: plain } },
      });
  },
  'an error status': ({ operation }) => {
    operation.responses['409'] = { description: 'conflict' };
  },
  'an error status less': ({ operation }) => {
    delete operation.responses['400'];
  },
  'another way to authenticate': ({ operation }) => {
    operation.security.push({ session: [] });
  },
  'no scope any more': ({ operation }) => {
    delete operation['x-required-scope'];
  },
  'other words': ({ document: all, operation, body, answer, payload }) => {
    all.info.description = 'other words';
    operation.description = 'other words';
    for (const { properties = {} } of [body, answer, payload].map(deepestIn))
      for (const property of Object.values(properties))
        Object.assign(property, { description: 'other words', examples: ['other'] });
  },
  'an announced end': ({ operation }) => {
    operation.deprecated = true;
  },
  'an event': ({ document: all, event }) => {
    all.webhooks['thing.changed'] = { post: { ...event, operationId: 'changed' } };
  },
  'a header of an event': ({ event }) => {
    event.parameters?.push({ name: 'webhook-more', in: 'header', description: 'x', schema: plain });
  },
  'another payload of an event under a new version': ({ payload, data }) => {
    set(payload, 'schemaVersion', { type: 'integer', const: 2 });
    data.properties = { other: plain };
    data.required = ['other'];
  },
  'fields of an event in another order': ({ data }) => {
    data.properties = Object.fromEntries(Object.entries(data.properties ?? {}).reverse());
    data.required = data.required?.toReversed() ?? [];
  },
  'a schema that got a name': ({ document: all, answer }) => {
    all.components.schemas.Named = present(answer.properties?.nested);
    set(answer, 'nested', { $ref: '#/components/schemas/Named' });
  },
};

const BREAKING: Record<string, Edit> = {
  'an operation was removed': ({ document: all }) => {
    delete all.paths['/things/{id}'];
  },
  'a method was removed': ({ document: all, operation }) => {
    all.paths['/things/{id}'] = { put: operation };
  },
  'a parameter was removed': ({ operation }) => {
    operation.parameters?.shift();
  },
  'a new parameter is required': ({ operation }) => {
    operation.parameters?.push({
      name: 'more',
      in: 'query',
      required: true,
      description: 'x',
      schema: plain,
    });
  },
  'a new header is required': ({ operation }) => {
    operation.parameters?.push({
      name: 'More',
      in: 'header',
      required: true,
      description: 'x',
      schema: plain,
    });
  },
  'a parameter has another type': ({ operation }) => {
    Object.assign(present(operation.parameters?.[0]), { schema: { type: 'object' } });
  },
  'a field of a request was removed': ({ body }) => {
    delete deepestIn(body).properties?.text;
  },
  'a body is required, or is of another media type': ({ operation }) => {
    const body = present(operation.requestBody);
    if (body.required) body.content = { 'text/plain': { schema: plain } };
    else body.required = true;
  },
  'a field of an answer was removed': ({ answer }) => {
    delete deepestIn(answer).properties?.text;
  },
  'an answer’s body is gone': ({ operation }) => {
    for (const response of Object.values(operation.responses)) Object.assign(response, { content: {} });
  },
  'a success has another status': ({ operation }) => {
    const [[status, response] = []] = Object.entries(operation.responses);
    delete operation.responses[present(status)];
    operation.responses['202'] = present(response);
  },
  'a header of an answer was removed': ({ operation }) => {
    for (const response of Object.values(operation.responses)) Object.assign(response, { headers: {} });
  },
  'a header of an answer may be absent': ({ document: all }) => {
    present(all.components.headers['Request-Id']).required = false;
  },
  'a header of an answer has another type': ({ document: all }) => {
    present(all.components.headers['Request-Id']).schema = { type: 'integer' };
  },
  'a way to authenticate was replaced': ({ operation }) => {
    operation.security = [{ session: [] }];
  },
  'a way to authenticate means something else': ({ document: all }) => {
    present(all.components.securitySchemes.key).scheme = 'basic';
  },
  'another scope is needed': ({ operation }) => {
    operation['x-required-scope'] = 'write:webhooks';
  },
  'a role is needed': ({ operation }) => {
    operation['x-required-role'] = 'admin';
  },
  'an event was removed': ({ document: all }) => {
    delete all.webhooks['thing.happened'];
  },
  'an event has a field more, under the same version': ({ data }) => set(deepestIn(data), 'more', plain),
  'an event has a field less, under the same version': ({ data }) => {
    delete deepestIn(data).properties?.text;
  },
  'an event’s envelope has a field more, under the same version': ({ payload }) =>
    set(payload, 'more', plain),
  'an event’s envelope lost a field, under a new version': ({ payload }) => {
    set(payload, 'schemaVersion', { type: 'integer', const: 2 });
    delete payload.properties?.orgId;
  },
  'an event’s version went back': ({ payload }) => {
    set(payload, 'schemaVersion', { type: 'integer', const: 0 });
  },
  'a header of an event was removed': ({ event }) => {
    event.parameters = [];
  },
  'fewer answers of a receiver are a success': ({ event }) => {
    event.responses = { '200': { description: 'taken' } };
  },
};

describe('a compatible change', () => {
  it.each(Object.entries(ADDITIVE))('%s', (_, edit) => {
    expect(breakingChanges(...edited(edit))).toEqual([]);
  });
});

describe('a breaking change', () => {
  it.each(Object.entries(BREAKING))('%s', (_, edit) => {
    const changes = breakingChanges(...edited(edit));
    expect(changes.length).toBeGreaterThan(0);
    for (const change of changes)
      expect(change).toMatch(/^(event )?[A-Z]+ \S+: .*\(docs\/specification\.md, Versioning: .*\)$/);
  });
});
