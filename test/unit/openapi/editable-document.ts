import type { OpenApiDocument, Operation, Schema } from '../../../lib/openapi/openapi.ts';

/*
 * A document with something to change: its operation takes an object and answers with one. Named schemas are
 * used in one direction only, so that a change of one is a change of one direction.
 */

const text: Schema = { type: 'string', minLength: 2, maxLength: 10, description: 'a text' };
const inner: Schema = { type: 'object', properties: { text }, required: ['text'] };

/** An object with an object, or null, in a list: `schema-changes.test.ts` has the other forms. */
const object = (): Schema => ({
  type: 'object',
  properties: { plain: text, nested: { type: 'array', items: { anyOf: [inner, { type: 'null' }] } } },
  required: ['plain', 'nested'],
});

const JSON_TYPE = 'application/json';
const header = { description: 'names the request', required: true, schema: { type: 'string' } };

const operation: Operation = {
  operationId: 'changeThing',
  tags: ['Things'],
  summary: 'changes',
  description: 'changes',
  security: [{ key: [] }],
  'x-required-scope': 'read:webhooks',
  parameters: [
    { name: 'alpha', in: 'query', required: true, description: 'a parameter', schema: text },
    { name: 'beta', in: 'header', required: false, description: 'a parameter', schema: { type: 'boolean' } },
  ],
  requestBody: {
    required: false,
    content: { [JSON_TYPE]: { schema: { $ref: '#/components/schemas/Body' } } },
  },
  responses: {
    '200': {
      description: 'done',
      headers: { 'Request-Id': { $ref: '#/components/headers/Request-Id' } },
      content: { [JSON_TYPE]: { schema: { $ref: '#/components/schemas/Answer' } } },
    },
    '400': { description: 'refused', content: { [JSON_TYPE]: { schema: { type: 'object' } } } },
  },
};

const eventOf = (name: string): Operation => ({
  operationId: name,
  tags: ['Events'],
  summary: name,
  description: name,
  security: [],
  parameters: [
    { name: 'webhook-id', in: 'header', required: true, description: 'names it', schema: { type: 'string' } },
  ],
  requestBody: {
    required: true,
    content: {
      [JSON_TYPE]: {
        schema: {
          type: 'object',
          properties: {
            type: { type: 'string', const: name },
            schemaVersion: { type: 'integer', const: 1 },
            orgId: { type: 'string' },
            data: object(),
          },
          required: ['type', 'schemaVersion', 'orgId', 'data'],
        },
      },
    },
  },
  responses: { '2XX': { description: 'taken' } },
});

const original: OpenApiDocument = {
  openapi: '3.1.1',
  info: {
    title: 'Things',
    version: '1.0.0',
    summary: 'things',
    description: 'things',
    contact: { name: 'us' },
    license: { name: 'none' },
  },
  servers: [{ url: '/', description: 'here' }],
  tags: [],
  paths: { '/things/{id}': { post: operation } },
  webhooks: {
    'thing.happened': { post: eventOf('thing.happened') },
    'thing.ended': { post: eventOf('thing.ended') },
  },
  components: {
    schemas: { Body: object(), Answer: object() },
    responses: {},
    parameters: {},
    headers: { 'Request-Id': header },
    securitySchemes: {
      key: { type: 'http', scheme: 'bearer', description: 'a key' },
      session: { type: 'apiKey', in: 'cookie', name: 'session', description: 'a session' },
    },
  },
};

/** The targets of edits: the first operation and event, and the schemas that they use. */
export interface Editable {
  document: OpenApiDocument;
  operation: Operation;
  body: Schema;
  answer: Schema;
  event: Operation;
  payload: Schema;
  data: Schema;
}

/** The document, before and after an edit. */
export function edited(edit: (parts: Editable) => void): [before: OpenApiDocument, after: OpenApiDocument] {
  // Not structuredClone, which keeps shared objects shared.
  const copy: OpenApiDocument = JSON.parse(JSON.stringify(original));
  const { schemas } = copy.components;
  const payload = present(copy.webhooks['thing.happened']?.post?.requestBody?.content[JSON_TYPE]?.schema);
  edit({
    document: copy,
    operation: present(copy.paths['/things/{id}']?.post),
    body: present(schemas.Body),
    answer: present(schemas.Answer),
    event: present(copy.webhooks['thing.happened']?.post),
    payload,
    data: present(payload.properties?.data),
  });
  return [original, copy];
}

export function present<T>(thing: T | undefined): T {
  if (thing === undefined) throw new Error('the document has this');
  return thing;
}

/** The object within the list of an object. */
export const deepestIn = ({ properties }: Schema): Schema =>
  present(present(properties?.nested ?? properties?.data?.properties?.nested).items?.anyOf?.[0]);
