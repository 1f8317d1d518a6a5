import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { dashboardDocument } from '../../lib/openapi/current.ts';
import type {
  Operation as Described,
  Header,
  OpenApiDocument,
  Response,
  Schema,
} from '../../lib/openapi/openapi.ts';
import { getSessionOperationId } from '../../lib/openapi/session-routes.ts';

const FILE = join(import.meta.dirname, '../../docs/openapi/v1.json');

/** A parameter of an operation. */
interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required?: boolean;
  schema: Schema;
}

/** A documented answer of an operation with one status. */
export interface Documented {
  headers: Readonly<Record<string, Header>>;
  /** Of the body; undefined when there is none. */
  schema: Schema | undefined;
  /** Values of `error.type`; empty for a success, and for the gateway's own answer, which may have any. */
  errorTypes: readonly string[];
}

/** An operation of the document, with all references resolved. */
export interface Operation {
  id: string;
  /** The id of the same operation for keys, if this is its path for sessions; otherwise its own. */
  firstId: string;
  method: string;
  /** With `{parameters}`. */
  path: string;
  caller: 'key' | 'session' | 'visitor';
  /** The required scope or role. */
  needs: string;
  parameters: readonly Parameter[];
  body: { required: boolean; schema: Schema; example: unknown } | undefined;
  /** By status; `default` is the gateway's own answer. */
  answers: ReadonlyMap<string, Documented>;
}

/** The API's document as customers get it, and that of the dashboard. */
export interface Document {
  operations: readonly Operation[];
  /** Names of all response headers in the document, in lower case. */
  headerNames: ReadonlySet<string>;
}

export function readDocument(): Document {
  const raw: OpenApiDocument[] = [JSON.parse(readFileSync(FILE, 'utf8')), dashboardDocument()];
  const paths = Object.fromEntries(
    raw.flatMap((document) =>
      Object.entries((resolveReferences(document, document) as OpenApiDocument).paths),
    ),
  );
  const ids = Object.values(paths).flatMap((item) =>
    Object.values(item).map(({ operationId }) => operationId),
  );
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, described]) =>
      buildOperation(method.toUpperCase(), path, described, ids),
    ),
  );
  const headerNames = operations
    .flatMap(({ answers }) => [...answers.values()])
    .flatMap(({ headers }) => Object.keys(headers).map((name) => name.toLowerCase()));
  return { operations, headerNames: new Set(headerNames) };
}

/** The status of a success that changes something; one that changes nothing may have 200. */
export const successOf = ({ answers }: Operation): number =>
  Math.max(...[...answers.keys()].filter((status) => status.startsWith('2')).map(Number));

/** The error types that an operation documents, each with its status. */
export function problemsOf({ answers }: Operation): { status: number; type: string }[] {
  return [...answers].flatMap(([status, { errorTypes }]) =>
    errorTypes.map((type) => ({ status: Number(status), type })),
  );
}

/** A schema and all schemas that it consists of. */
export const partsOf = (schema: Schema | undefined): Schema[] =>
  schema === undefined
    ? []
    : [
        schema,
        ...[schema.allOf, schema.anyOf, schema.oneOf].flatMap((list) => (list ?? []).flatMap(partsOf)),
      ];

function buildOperation(
  method: string,
  path: string,
  described: Described,
  ids: readonly string[],
): Operation {
  const { operationId, security, parameters = [], requestBody, responses } = described;
  const content = requestBody?.content['application/json'];
  return {
    id: operationId,
    firstId: ids.find((id) => getSessionOperationId(id) === operationId) ?? operationId,
    method,
    path,
    caller: readCaller(security),
    needs: described['x-required-scope'] ?? described['x-required-role'] ?? '',
    parameters: parameters as Parameter[],
    body:
      requestBody && content
        ? { required: requestBody.required, schema: content.schema, example: content.example }
        : undefined,
    answers: new Map(
      Object.entries(responses as Record<string, Response>).map(
        ([status, { headers = {}, content: body, 'x-error-types': errorTypes = [] }]) => [
          status,
          {
            headers: headers as Record<string, Header>,
            schema: body?.['application/json']?.schema,
            errorTypes,
          },
        ],
      ),
    ),
  };
}

function readCaller(security: Described['security']): Operation['caller'] {
  if (security.some((scheme) => 'apiKey' in scheme)) return 'key';
  return security.some((scheme) => 'visitorToken' in scheme) ? 'visitor' : 'session';
}

/** @throws when a reference has no target */
function resolveReferences(node: unknown, root: OpenApiDocument): unknown {
  if (Array.isArray(node)) return node.map((item) => resolveReferences(item, root));
  if (typeof node !== 'object' || node === null) return node;
  if ('$ref' in node) return resolveReferences(lookup(String(node.$ref), root), root);
  return Object.fromEntries(
    Object.entries(node).map(([key, value]) => [key, resolveReferences(value, root)]),
  );
}

function lookup(ref: string, root: unknown): unknown {
  let node = root;
  for (const part of ref.slice('#/'.length).split('/'))
    node = Object(node)[part.replaceAll('~1', '/').replaceAll('~0', '~')];
  if (node === undefined) throw new Error(`the document refers to ${ref}, which it does not have`);
  return node;
}
