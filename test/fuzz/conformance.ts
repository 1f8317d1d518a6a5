import type { ValidateFunction, Ajv2020 as Validator } from 'ajv/dist/2020.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { Schema } from '../../lib/openapi/openapi.ts';
import type { Exchange, Sent } from '../support/exchange.ts';
import { type Document, type Documented, type Operation, partsOf } from './document.ts';

/** Statuses of the gateway's own answers: malformed, unknown, other method, too large, headers too large. */
const GATEWAY_STATUSES = [400, 404, 405, 413, 431];

/** Text that would reveal internals: files, stacks, products. */
const INSIDE =
  /\.[cm]?[jt]s\b|node:|node_modules|\bat [\w.]+ \(|dynamo|\baws\b|amazon|lambda|\bzod|undefined|\[object /i;

/** Headers of a preflight, for routes that pages of other origins may call. */
const PREFLIGHT_STATUS = 204;

/** Lists how an answer differs from the document; empty when it does not. */
export type Conformance = (exchange: Exchange) => string[];

export function conformance(document: Document): Conformance {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  formats.default(ajv);
  // The document promises that clients can handle errors by these values.
  ajv.addKeyword({
    keyword: 'x-extensible-enum',
    validate: (known: unknown[], value: unknown) => known.includes(value),
  });
  const validators = new Map<Schema, ValidateFunction>();

  return (exchange) => {
    const { status } = exchange;
    const tooLarge = status === 431 && sizeOf(exchange.sent) > NEAR_HEADER_LIMIT;
    const operation = tooLarge ? undefined : operationFor(document, exchange.sent);
    const documented = operation?.answers.get(String(status));
    if (operation !== undefined && documented === undefined)
      return [`${operation.id} answered ${status}, which it does not document`];
    if (exchange.sent.method === 'OPTIONS' && status === PREFLIGHT_STATUS)
      return exchange.text === '' ? [] : ['an answer to a preflight has a body'];
    if (documented === undefined && !GATEWAY_STATUSES.includes(status))
      return [`the gateway answered ${status}`];
    const expected = documented ?? document.operations[0]?.answers.get('default');
    if (expected === undefined) return ['the document has no default answer'];
    return [
      ...headerFaults(exchange, expected, document, (schema) => compiled(ajv, validators, schema)),
      ...bodyFaults(exchange, expected, (schema) => compiled(ajv, validators, schema)),
    ];
  };
}

/** The operation that a request reaches, or undefined when the gateway answers it. */
export function operationFor({ operations }: Document, { method, target }: Sent): Operation | undefined {
  const [path = '', query = ''] = target.split(/\?(.*)/s, 2);
  let segments: string[];
  try {
    segments = path.split('/').map(decodeURIComponent);
    decodeURIComponent(query.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
  return operations.find((operation) => {
    const wanted = operation.path.split('/');
    return (
      operation.method === method &&
      wanted.length === segments.length &&
      wanted.every((part, index) =>
        part.startsWith('{') ? segments[index] !== '' : part === segments[index],
      )
    );
  });
}

/** Bytes of the request line and the headers from which on the gateway's limit of 10,240 may be exceeded. */
const NEAR_HEADER_LIMIT = 9_000;

export const sizeOf = ({ target, headers }: Sent): number =>
  headers.reduce((sum, [name, value]) => sum + name.length + value.length + 4, target.length);

type Compile = (schema: Schema) => ValidateFunction;

function compiled(
  ajv: Validator,
  compiledBefore: Map<Schema, ValidateFunction>,
  schema: Schema,
): ValidateFunction {
  const validate = compiledBefore.get(schema) ?? ajv.compile(schema);
  compiledBefore.set(schema, validate);
  return validate;
}

function headerFaults(
  { headers }: Exchange,
  expected: Documented,
  { headerNames }: Document,
  compile: Compile,
): string[] {
  const documented = new Map(Object.entries(expected.headers).map(([name, it]) => [name.toLowerCase(), it]));
  const faults = [...headerNames]
    .filter((name) => name in headers && !documented.has(name))
    .map((name) => `the header ${name} is not documented for this answer`);
  for (const [name, { required, schema }] of documented) {
    const value = headers[name];
    if (value === undefined) {
      if (required) faults.push(`the header ${name} is missing`);
    } else {
      const validate = compile(schema);
      if (!validate(schema.type === 'integer' ? Number(value) : value))
        faults.push(`the header ${name}: ${value} is not as documented`);
    }
  }
  if (headers['cache-control'] !== 'no-store') faults.push('an answer may be cached');
  return faults;
}

function bodyFaults(
  { sent, status, headers, text }: Exchange,
  { schema, errorTypes }: Documented,
  compile: Compile,
): string[] {
  // The answer to a HEAD has the headers of one to a GET and no body (RFC 9110, 9.3.2).
  if (sent.method === 'HEAD') return text === '' ? [] : ['an answer to HEAD has a body'];
  if (schema === undefined) return text === '' ? [] : [`a body where none is documented: ${text}`];
  if (!/^application\/json\b/.test(headers['content-type'] ?? ''))
    return [`the body is sent as ${headers['content-type']}`];
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return [`the body is not JSON: ${text.slice(0, 200)}`];
  }
  const validate = compile(schema);
  const faults = validate(body)
    ? []
    : (validate.errors ?? []).map(({ instancePath, message }) => `body${instancePath} ${message}`);
  faults.push(...unknownFields(schema, body).map((path) => `body${path} is not documented`));
  if (status >= 400) faults.push(...errorFaults(body, headers, errorTypes, sent));
  return faults;
}

function errorFaults(
  body: unknown,
  headers: Exchange['headers'],
  types: readonly string[],
  sent: Exchange['sent'],
): string[] {
  const { type, requestId, message, details = [] } = Object(Object(body).error);
  // Names of fields and parameters that the caller sent, which may be any word.
  const parameters = new URLSearchParams(sent.target.split('?')[1]);
  const own = details
    .map(({ field }: { field: string }) => field)
    .filter((field: string) => parameters.has(field) || sent.body?.includes(field) === true)
    .reduce((text: string, field: string) => text.replaceAll(`${field} is not a known`, ''), String(message));
  return [
    ...(types.length === 0 || types.includes(type) ? [] : [`the error type ${type} is not documented`]),
    ...(requestId === headers['request-id'] ? [] : [`requestId ${requestId} is not the Request-Id`]),
    ...(INSIDE.test(own) ? [`the message shows the inside of the service: ${message}`] : []),
  ];
}

/** Paths of the fields of a value that its schema does not name: they could leak data unnoticed. */
export function unknownFields(schema: Schema, value: unknown, path = ''): string[] {
  const parts = partsOf(schema);
  if (Array.isArray(value)) {
    const items = parts.flatMap((part) => part.items ?? []);
    return value.flatMap((item, index) =>
      items.length === 0 ? [] : unknownFields({ allOf: items }, item, `${path}/${index}`),
    );
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, field]) => {
    const described = parts.flatMap(({ properties, additionalProperties }) => {
      const own = properties && Object.hasOwn(properties, name) ? properties[name] : undefined;
      return own ?? (typeof additionalProperties === 'object' ? additionalProperties : []);
    });
    return described.length === 0
      ? [`${path}/${name}`]
      : unknownFields({ allOf: described }, field, `${path}/${name}`);
  });
}
