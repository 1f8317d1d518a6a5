import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '../../..');

/** A schema, as far as it is read here. */
export interface Schema {
  $ref?: string;
  type?: string | string[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  const?: unknown;
  enum?: unknown[];
  format?: string;
  pattern?: string;
  title?: string;
  description?: string;
  additionalProperties?: boolean | Schema;
  discriminator?: unknown;
  'x-extensible-enum'?: string[];
  /** Of the generator of types: a class to use, or to derive from. */
  customTypePath?: string;
  customBasePath?: string;
}

interface Parameter {
  name: string;
  in: string;
  description?: string;
  schema: Schema;
}

interface Content {
  content?: { 'application/json'?: { schema: Schema } };
}

interface RawOperation {
  operationId?: string;
  summary?: string;
  parameters?: (Parameter | { $ref: string })[];
  requestBody?: Content;
  responses: Record<string, Content>;
}

export interface ApiDocument {
  paths: Record<string, Record<string, RawOperation>>;
  webhooks: Record<string, { post: RawOperation }>;
  components: { schemas: Record<string, Schema>; parameters: Record<string, Parameter> };
}

/** An operation for keys and visitor tokens. */
export interface Operation {
  id: string;
  method: string;
  path: string;
  summary: string;
  query: readonly Parameter[];
  /** Name of the schema of the request's body. */
  body: string | undefined;
  /** Name of the schema of the resource, or of the items of a list; undefined for 204. */
  result: string | undefined;
  isList: boolean;
}

export const readDocument = (): ApiDocument =>
  JSON.parse(readFileSync(join(ROOT, 'docs/openapi/v1.json'), 'utf8'));

/** @throws Error when a body or a resource of an operation has no name */
export const listOperations = (document: ApiDocument): Operation[] =>
  Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, raw]) => toOperation(document, path, method.toUpperCase(), raw)),
  );

function toOperation(document: ApiDocument, path: string, method: string, raw: RawOperation): Operation {
  const { operationId: id = '', summary = '', parameters = [], requestBody, responses } = raw;
  const { parameters: shared } = document.components;
  const query = parameters
    .map((parameter) => ('$ref' in parameter ? shared[nameIn(parameter.$ref)] : parameter))
    .filter((parameter) => parameter?.in === 'query')
    .filter((parameter) => parameter !== undefined);
  const success = responses[Object.keys(responses).find((status) => status.startsWith('2')) ?? ''];
  const envelope = document.components.schemas[refOf(success) ?? '']?.properties ?? {};
  const { data } = envelope;
  const result = data && nameIn((data.items ?? data).$ref ?? '');
  if (result === '') throw new Error(`${id} has a resource without a name`);
  return {
    id,
    method,
    path,
    summary,
    query,
    body: refOf(requestBody),
    result,
    isList: 'nextCursor' in envelope,
  };
}

const refOf = (content: Content | undefined): string | undefined => {
  const schema = content?.content?.['application/json']?.schema;
  return schema && nameIn(schema.$ref ?? '');
};

/** The last part of a reference. */
export const nameIn = (ref: string): string => ref.split('/').at(-1) ?? '';

/** Events that receivers get, by the names of their schemas. */
export const listEventSchemas = ({ webhooks }: ApiDocument): string[] =>
  Object.values(webhooks).map(({ post }) => refOf(post.requestBody) ?? '');
