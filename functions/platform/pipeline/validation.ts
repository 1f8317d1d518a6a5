import type { APIGatewayProxyEvent } from 'aws-lambda';
import type * as z from 'zod/mini';
import { type Problem, problem } from '../../domain/problem.ts';
import type { Route } from '../route.ts';
import { header } from './request.ts';

/** Maximum size of a request body in bytes (docs/specification.md, Representation). */
const MAX_BODY_BYTES = 256 * 1024;

type Parsed<T> = { ok: true; value: T } | { ok: false; problem: Problem };

const refuse = (refused: Problem): { ok: false; problem: Problem } => ({ ok: false, problem: refused });

/**
 * Checks size, media type, JSON and shape of the body, in this order. A POST or PATCH without a body schema
 * accepts JSON only, of any shape (docs/specification.md, Representation); other methods ignore a body (RFC
 * 9110, 9.3.1).
 */
export function parseBody(
  event: APIGatewayProxyEvent,
  route: Pick<Route, 'method' | 'body'>,
): Parsed<unknown> {
  if (route.method === 'GET' || route.method === 'DELETE') return { ok: true, value: undefined };
  const optional =
    route.body === undefined ? { success: true, data: undefined } : route.body.safeParse(undefined);
  const text = event.isBase64Encoded
    ? Buffer.from(event.body ?? '', 'base64').toString('utf8')
    : (event.body ?? '');
  if (Buffer.byteLength(text) > MAX_BODY_BYTES)
    return refuse(problem('PAYLOAD_TOO_LARGE', `The body must be at most ${MAX_BODY_BYTES} bytes.`));
  if (text === '' && optional.success) return { ok: true, value: optional.data };
  const mediaType = header(event, 'content-type')?.split(';')[0]?.trim().toLowerCase();
  if (mediaType !== 'application/json' && (text !== '' || mediaType !== undefined))
    return refuse(
      problem('UNSUPPORTED_MEDIA_TYPE', 'The body must be JSON, with Content-Type: application/json.'),
    );
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return refuse(problem('VALIDATION_ERROR', 'The body is not valid JSON.'));
  }
  return route.body === undefined ? { ok: true, value: undefined } : parse(route.body, json, 'body');
}

/** Unknown parameters are ignored. */
export const parseQuery = (event: APIGatewayProxyEvent, route: Route): Parsed<object> =>
  parse(route.query, event.queryStringParameters ?? {}, 'query');

function parse<S extends z.ZodMiniType>(schema: S, value: unknown, whole: string): Parsed<z.output<S>> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return { ok: true, value: parsed.data };
  return refuse(problem('VALIDATION_ERROR', describeIssues(parsed.error.issues, whole)));
}

/** One sentence per faulty field, for its first issue: after a wrong type the others assume another type. */
function describeIssues(issues: readonly z.core.$ZodIssue[], whole: string): string {
  const faults = new Map<string, string>();
  for (const issue of issues) {
    const path = issue.path.join('.');
    if (!faults.has(path)) faults.set(path, describe(issue, whole));
  }
  return [...faults.values()].join(' ');
}

/** Names the field and the constraint, never the value, which may be a secret. */
function describe(issue: z.core.$ZodIssue, whole: string): string {
  return `${issue.path.length === 0 ? `The ${whole}` : issue.path.join('.')} ${constraint(issue)}.`;
}

function constraint(issue: z.core.$ZodIssue): string {
  // The schema's own wording.
  if (issue.message.startsWith('must ')) return issue.message;
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${/^[aeiou]/.test(issue.expected) ? 'an' : 'a'} ${issue.expected}`;
    case 'invalid_value':
      return `must be one of ${issue.values.map(String).join(', ')}`;
    case 'too_small':
      return `must ${amount('at least', issue.minimum, issue.origin)}`;
    case 'too_big':
      return `must ${amount('at most', issue.maximum, issue.origin)}`;
    default:
      return 'has an invalid format';
  }
}

/** Numbers have a value, texts and lists a length. */
function amount(bound: string, limit: number | bigint, origin: string): string {
  const of = { string: 'character', array: 'item' }[origin];
  return of === undefined ? `be ${bound} ${limit}` : `have ${bound} ${limit} ${of}${limit === 1 ? '' : 's'}`;
}
