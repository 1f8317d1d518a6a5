import { type Resolve, refOf, resolverOf } from './compatibility/resolution.ts';
import { currentDocument } from './current.ts';
import type { OpenApiDocument, Operation, Parameter, Schema } from './openapi.ts';

/** Where the file is, from the root of the project. */
export const COLLECTION = 'docs/collections/conversation-service.postman_collection.json';

/** A row of a table: a header, a parameter, a variable. */
interface Row {
  key: string;
  value: string;
  description?: string;
  /** Shown, and sent after the user has switched it on. */
  disabled?: true;
}

interface Auth {
  type: 'bearer';
  bearer: { key: 'token'; value: string; type: 'string' }[];
}

/** A request of a Postman collection. */
export interface CollectionRequest {
  name: string;
  request: {
    method: string;
    /** Absent where the collection's credential is used. */
    auth?: Auth;
    header: Row[];
    body?: { mode: 'raw'; raw: string; options: { raw: { language: 'json' } } };
    url: { raw: string; host: string[]; path: string[]; query: Row[]; variable: Row[] };
    description: string;
  };
  response: [];
}

/** A Postman collection, format 2.1. */
export interface Collection {
  info: { name: string; description: string; schema: string };
  auth: Auth;
  event: { listen: 'test'; script: { type: 'text/javascript'; exec: string[] } }[];
  variable: Row[];
  item: { name: string; description: string; item: CollectionRequest[] }[];
}

const bearer = (variable: string): Auth => ({
  type: 'bearer',
  bearer: [{ key: 'token', value: `{{${variable}}}`, type: 'string' }],
});

/** `npm start` serves it, and has the credentials in `.local/env`. */
const VARIABLES: readonly Row[] = [
  { key: 'baseUrl', value: 'http://localhost:3000', description: 'Where the API is served.' },
  { key: 'apiKey', value: '', description: 'ck_live_…, or ck_sandbox_… for the sandbox.' },
  { key: 'visitorToken', value: '', description: 'Set by “Create a visitor token”.' },
];

/**
 * A Postman collection of all operations, which Bruno and other clients import: a folder for each tag, and
 * variables for the server, the credentials and the identifiers in paths.
 */
export function collectionOf(document: OpenApiDocument = currentDocument()): Collection {
  const resolve = resolverOf(document);
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ method, path, operation })),
  );
  const ids = new Map(operations.flatMap(({ operation }) => idVariables(operation, resolve)));
  // Deletions last: the identifiers are those of things that exist.
  const inOrder = operations.toSorted(
    (one, other) => Number(one.method === 'delete') - Number(other.method === 'delete'),
  );
  const folders = document.tags.map(({ name, description }) => ({
    name,
    description,
    item: inOrder
      .filter(({ operation: { tags } }) => tags.includes(name))
      .map(({ method, path, operation }) => requestOf(method, path, operation, { resolve, ids })),
  }));
  return {
    info: {
      name: document.info.title,
      description: 'Written by `npm run generate -- collection` from docs/openapi/v1.json.',
      schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json',
    },
    auth: bearer('apiKey'),
    event: [{ listen: 'test', script: { type: 'text/javascript', exec: storeIds(ids) } }],
    variable: [...VARIABLES, ...[...ids].map(([key, value]) => ({ key, value }))],
    // The events that receivers get are no requests to this API.
    item: folders.filter(({ item }) => item.length > 0),
  };
}

/** The file as it is on disk: the same text for the same document. */
export const collectionText = (): string => `${JSON.stringify(collectionOf(), null, 2)}\n`;

/** The names of the identifiers in an operation's path, with an example of each. */
const idVariables = ({ parameters = [] }: Operation, resolve: Resolve): [name: string, example: string][] =>
  parameters.flatMap((parameter): [string, string][] => {
    const resolved = resolve<Parameter>(parameter);
    return resolved.in === 'path' ? [[variableName(parameter), exampleOf(resolved, resolve)]] : [];
  });

/** `#/components/parameters/WebhookId` is `webhookId`: in their paths, most identifiers are called `id`. */
function variableName(parameter: object): string {
  const name = refOf(parameter)?.split('/').at(-1);
  if (name === undefined) throw new Error('a parameter of a path has no name');
  return `${name.charAt(0).toLowerCase()}${name.slice(1)}`;
}

/**
 * A script that runs after each response: requests that follow use the identifier that a response begins
 * with. It uses only what other clients translate.
 */
function storeIds(ids: ReadonlyMap<string, string>): string[] {
  const names = Object.fromEntries([...ids].map(([name, example]) => [example.slice(0, 4), name]));
  return [
    `const names = ${JSON.stringify(names)};`,
    'if (pm.response.code >= 200 && pm.response.code < 300 && pm.response.code !== 204) {',
    '  const [first = {}] = [pm.response.json().data].flat();',
    '  for (const value of [first.id, first.eventId, first.deliveryId]) {',
    '    const name = names[String(value).slice(0, 4)];',
    '    if (name) pm.collectionVariables.set(name, value);',
    '  }',
    "  if (first.token) pm.collectionVariables.set('visitorToken', first.token);",
    '}',
  ];
}

function requestOf(
  method: string,
  path: string,
  operation: Operation,
  { resolve, ids }: { resolve: Resolve; ids: ReadonlyMap<string, string> },
): CollectionRequest {
  const parameters = (operation.parameters ?? []).map((parameter) => resolve<Parameter>(parameter));
  const within = (place: Parameter['in']) => parameters.filter((parameter) => parameter.in === place);
  const steps = path
    .slice(1)
    .replaceAll(/\{(\w+)\}/g, ':$1')
    .split('/');
  const example = operation.requestBody?.content['application/json']?.example;
  return {
    name: operation.summary,
    request: {
      method: method.toUpperCase(),
      ...authOf(operation),
      header: [
        ...(example === undefined ? [] : [{ key: 'Content-Type', value: 'application/json' }]),
        ...within('header').map(({ name, description }) => ({ key: name, value: '{{$guid}}', description })),
      ],
      ...(example === undefined
        ? {}
        : {
            body: {
              mode: 'raw',
              raw: withVariables(JSON.stringify(example, null, 2), ids),
              options: { raw: { language: 'json' } },
            },
          }),
      url: {
        raw: `{{baseUrl}}/${steps.join('/')}`,
        host: ['{{baseUrl}}'],
        path: steps,
        query: within('query').map((parameter) => ({
          key: parameter.name,
          value: exampleOf(parameter, resolve),
          description: parameter.description,
          disabled: true,
        })),
        variable: (operation.parameters ?? []).flatMap((parameter) => {
          const { name, in: place, description } = resolve<Parameter>(parameter);
          return place === 'path'
            ? [{ key: name, value: `{{${variableName(parameter)}}}`, description }]
            : [];
        }),
      },
      description: operation.description,
    },
    response: [],
  };
}

/** A text with variables in place of the identifiers of examples. */
const withVariables = (text: string, ids: ReadonlyMap<string, string>): string =>
  [...ids].reduce((changed, [name, example]) => changed.replaceAll(example, `{{${name}}}`), text);

function authOf({ security }: Operation): { auth?: Auth } {
  return security.some((scheme) => 'visitorToken' in scheme) ? { auth: bearer('visitorToken') } : {};
}

/** A value that the parameter accepts. */
function exampleOf({ example, schema }: Parameter, resolve: Resolve): string {
  const { examples, default: absent, enum: values } = { ...resolve<Schema>(schema), ...schema };
  return String(example ?? examples?.[0] ?? absent ?? values?.[0] ?? '');
}
