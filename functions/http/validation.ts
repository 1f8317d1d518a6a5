import { isUtf8 } from 'node:buffer';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { closestMatch } from 'leven';
import * as z from 'zod/mini';
import { header } from './lifecycle.ts';
import { type FieldError, type FieldErrorCode, invalid, type Problem, refusals } from './problem.ts';
import { NO_FIELDS, type Route, settingsPath } from './route.ts';

/** docs/specification.md, Representation. */
const MAX_BODY_BYTES = 256 * 1024;

type Shape = Readonly<Record<string, z.core.$ZodType>>;

type Parsed<T> = { ok: true; value: T } | { ok: false; problem: Problem };

const refuse = (problem: Problem) => ({ ok: false, problem }) as const;

/** Of a route that takes no body: an object without fields, or nothing. */
const NoBody = /* @__PURE__ */ z.optional(/* @__PURE__ */ z.strictObject({}));

/**
 * Checks size, coding, media type, encoding, JSON and shape of the body, in this order. Other methods than
 * POST and PATCH ignore a body (RFC 9110, 9.3.1).
 */
export function parseBody(
  event: APIGatewayProxyEvent,
  route: Pick<Route, 'method' | 'body'>,
): Parsed<unknown> {
  if (route.method === 'GET' || route.method === 'DELETE') return { ok: true, value: undefined };
  const schema = route.body ?? NoBody;
  const optional = schema.safeParse(undefined);
  // The gateway passes bodies as base64 (lib/infra/api.ts).
  const bytes = Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8');
  if (bytes.length > MAX_BODY_BYTES) return refuse(refusals.largeBody(MAX_BODY_BYTES));
  if (bytes.length === 0 && optional.success) return { ok: true, value: optional.data };
  if (header(event, 'content-encoding') !== undefined) return refuse(refusals.codedBody);
  const mediaType = header(event, 'content-type')?.split(';')[0]?.trim().toLowerCase();
  if (mediaType !== 'application/json' && (bytes.length > 0 || mediaType !== undefined))
    return refuse(refusals.otherMediaType);
  if (!isUtf8(bytes))
    return refuse(invalid({ field: 'body', code: 'invalid_format', message: 'must be valid UTF-8' }));
  const text = bytes.toString('utf8');
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return refuse(invalid({ field: 'body', code: 'invalid_format', message: 'is not valid JSON' }));
  }
  const parsed = parse(schema, withoutNulls(json, findShape(schema)), findUnsafeNames(text));
  return parsed.ok && route.body === undefined ? { ok: true, value: undefined } : parsed;
}

/** `null` for an optional field that cannot be null means that the field is absent. */
function withoutNulls(json: unknown, shape: Shape): unknown {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) return json;
  const isAbsent = (name: string, value: unknown): boolean => {
    const field = Object.hasOwn(shape, name) ? shape[name] : undefined;
    const accepts = (given: unknown): boolean => field !== undefined && z.safeParse(field, given).success;
    return value === null && accepts(undefined) && !accepts(null);
  };
  return Object.fromEntries(Object.entries(json).filter(([name, value]) => !isAbsent(name, value)));
}

/**
 * Names that an object of the text, which is valid JSON, has twice: readers differ in which value counts. And
 * `__proto__` within a field, which the schema library leaves out.
 */
function findUnsafeNames(text: string): FieldError[] {
  const repeated = new Set<string>();
  let hasPrototype = false;
  const objects: Set<string>[] = [];
  for (const [token] of text.matchAll(/[{}]|"[^"\\]*(?:\\.[^"\\]*)*"(?:\s*:)?/g)) {
    if (token === '{') objects.push(new Set());
    else if (token === '}') objects.pop();
    else if (token.endsWith(':')) {
      const name: string = JSON.parse(token.slice(0, -1));
      if (objects.at(-1)?.has(name)) repeated.add(name);
      objects.at(-1)?.add(name);
      if (name === '__proto__' && objects.length > 1) hasPrototype = true;
    }
  }
  return [
    ...[...repeated].map((name) => describeRepeated(toFieldName(name))),
    ...(hasPrototype ? [describeUnknown('__proto__', [], 'field')] : []),
  ];
}

/** Parses the query. An unknown parameter and a repeated one are refused. */
export function parseQuery(event: APIGatewayProxyEvent, route: Route): Parsed<object> {
  const query = Object.fromEntries(
    Object.entries(event.queryStringParameters ?? {}).map(([name, value]) => [name, restorePlus(value)]),
  );
  const schema = route.query ?? NO_FIELDS;
  const names = Object.keys(schema.shape);
  // Read with the session, before the query.
  if (event.resource !== undefined && event.resource === settingsPath(route)) names.push('environment');
  const repeated = Object.entries(event.multiValueQueryStringParameters ?? {})
    .filter(([, values]) => (values?.length ?? 0) > 1)
    .map(([name]) => name);
  const faults = [
    ...Object.keys(query)
      .filter((name) => !names.includes(name))
      .map((name) => describeUnknown(name, names, 'parameter')),
    ...repeated.filter((name) => names.includes(name)).map(describeRepeated),
  ];
  return parse(schema, query, faults);
}

/** A time whose offset has a space: an unencoded `+` of a query means one. */
const restorePlus = (value: string | undefined): string | undefined =>
  value?.replace(/^(\d{4}-\d\d-\d\dT[\d:.]+) (\d\d:\d\d)$/, '$1+$2');

/** Refuses repeated headers that name a caller or a request, and so must not contradict themselves. */
export function findRepeatedHeaders({ multiValueHeaders }: APIGatewayProxyEvent): Problem | undefined {
  const repeated = ['Authorization', 'Idempotency-Key'].filter(
    (name) =>
      Object.entries(multiValueHeaders ?? {})
        .filter(([given]) => given.toLowerCase() === name.toLowerCase())
        .flatMap(([, values]) => values ?? []).length > 1,
  );
  return repeated.length === 0 ? undefined : invalid(...repeated.map(describeRepeated));
}

const describeRepeated = (field: string): FieldError => ({
  field,
  code: 'duplicate',
  message: 'must not be repeated',
});

/** @param faults that the schema does not know of */
function parse<T>(schema: z.ZodMiniType<T>, value: unknown, faults: readonly FieldError[]): Parsed<T> {
  const parsed = schema.safeParse(value, { error: describeConstraint });
  if (parsed.success && faults.length === 0) return { ok: true, value: parsed.data };
  const issues = parsed.success ? [] : parsed.error.issues;
  return refuse(invalid(...faults, ...describeIssues(issues, schema, value)));
}

/** The first issue of each field: after a wrong type the others assume another type. */
function describeIssues(issues: readonly z.core.$ZodIssue[], schema: z.ZodMiniType, value: unknown) {
  const faults = new Map<string, FieldError>();
  for (const issue of issues) {
    if (issue.code === 'unrecognized_keys') {
      const names = Object.keys(findShape(schema));
      for (const name of issue.keys) faults.set(`?${name}`, describeUnknown(name, names, 'field'));
      continue;
    }
    const field = issue.path.map(toFieldName).join('.') || 'body';
    if (!faults.has(field))
      faults.set(field, {
        field,
        ...classify(issue, value),
        message: isMissing(issue, value) ? 'is required' : issue.message,
      });
  }
  return [...faults.values()];
}

/** The fields of a body, which may be optional or have a default. */
function findShape(schema: z.ZodMiniType): Shape {
  if (schema instanceof z.ZodMiniObject) return schema.shape;
  const { innerType } = Object(schema._zod.def);
  return innerType === undefined ? {} : findShape(innerType);
}

/** A name that is safe to repeat: short, and no credential in the place of a name. */
const REPEATABLE = /^(?!.*(?:ck_|whsec_|cvt_))[\w.-]{1,64}$/;

/** A part of a path, which may be a name that the caller chose. */
const toFieldName = (part: PropertyKey): string => (REPEATABLE.test(String(part)) ? String(part) : 'a field');

/** Names an unknown field or parameter and the known name that is most like it. */
function describeUnknown(name: string, names: readonly string[], kind: 'field' | 'parameter'): FieldError {
  const nearest = closestMatch(name.slice(0, 64), names);
  return {
    field: REPEATABLE.test(name) ? name : `a ${kind}`,
    code: 'unknown_field',
    message: `is not a known ${kind}${nearest === undefined ? '' : ` (nearest: ${nearest})`}`,
  };
}

const isMissing = (issue: z.core.$ZodIssue, value: unknown): boolean =>
  issue.path.length > 0 && readPath(value, issue.path) === undefined;

/** By the kind of the issue; a refinement names its own code (functions/api/fields.ts). */
function classify(issue: z.core.$ZodIssue, value: unknown): Pick<FieldError, 'code' | 'limit'> {
  if (isMissing(issue, value)) return { code: 'required' };
  switch (issue.code) {
    case 'invalid_type':
      return { code: 'invalid_type' };
    case 'invalid_value':
      return { code: 'not_allowed' };
    case 'too_small':
      return { code: BELOW[issue.origin] ?? 'too_small', limit: Number(issue.minimum) };
    case 'too_big':
      return { code: ABOVE[issue.origin] ?? 'too_large', limit: Number(issue.maximum) };
    case 'custom':
      return { code: 'invalid_format', ...issue.params };
    default:
      return { code: 'invalid_format' };
  }
}

const BELOW: Readonly<Record<string, FieldErrorCode>> = { string: 'too_short', array: 'too_few' };
const ABOVE: Readonly<Record<string, FieldErrorCode>> = { string: 'too_long', array: 'too_many' };

/** The constraint where the schema has no text of its own; never the value, which may be a secret. */
function describeConstraint(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type': {
      const type = TYPES[issue.expected] ?? issue.expected;
      return `must be ${/^[aeiou]/.test(type) ? 'an' : 'a'} ${type}`;
    }
    case 'invalid_value':
      return `must be one of ${issue.values.map(String).join(', ')}`;
    case 'too_small':
      return `must ${amount('at least', issue.minimum, issue.origin)}`;
    case 'too_big':
      return `must ${amount('at most', issue.maximum, issue.origin)}`;
    default:
      return 'is not valid';
  }
}

/** Words of the schema library for types. */
const TYPES: Readonly<Record<string, string>> = { int: 'integer', record: 'object' };

const readPath = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>((at, part) => (Object.hasOwn(Object(at), part) ? Object(at)[part] : undefined), value);

/** Numbers have a value, texts and lists a length. */
function amount(bound: string, limit: number | bigint, origin: string): string {
  const of = { string: 'character', array: 'item' }[origin];
  return of === undefined ? `be ${bound} ${limit}` : `have ${bound} ${limit} ${of}${limit === 1 ? '' : 's'}`;
}
