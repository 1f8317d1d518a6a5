import {
  type FieldError,
  type FieldErrorCode,
  invalid,
  type ProblemType,
} from '../../functions/http/problem.ts';
import type { Route } from '../../functions/http/route.ts';

/** Whether a route gives its answer in pages. */
export const isPaged = ({ query }: Pick<Route, 'query'>): boolean =>
  query !== undefined && 'cursor' in query.shape;

/**
 * Whether a route reads what is in the request's body: also where none is expected, something else than JSON
 * is refused.
 */
const readsBody = ({ method }: Pick<Route, 'method'>): boolean => method === 'POST' || method === 'PATCH';

/**
 * Every error type that a route's function may answer with. All but `refusals` follow from its facts, by what
 * the pipeline does (functions/http).
 */
export function problemsOf(route: Route): ProblemType[] {
  const types = new Set<ProblemType>([
    'AUTHENTICATION_ERROR',
    // There is nothing that one visitor may do and another may not.
    ...(route.visitor ? [] : (['PERMISSION_DENIED'] as const)),
    // An unknown query parameter, for one.
    'VALIDATION_ERROR',
    'RATE_LIMITED',
    'INTERNAL_ERROR',
    'SERVICE_UNAVAILABLE',
    ...(route.refusals ?? []),
  ]);
  // What a DELETE names may be gone already: that is a success.
  if (route.path.includes('{') && route.success.status !== 204) types.add('NOT_FOUND');
  if (readsBody(route))
    for (const type of ['PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'] as const) types.add(type);
  if (route.idempotency !== undefined)
    for (const type of ['CONFLICT', 'IDEMPOTENCY_KEY_REUSED'] as const) types.add(type);
  if (route.deprecation !== undefined) types.add('GONE');
  return [...types].sort();
}

interface ProblemText {
  /** What it means, and what to do. */
  description: string;
  /** Messages that it comes with, by what they are about. */
  messages: Readonly<Record<string, string>>;
  /** The same for calls with a session, where they differ. */
  sessionMessages?: Readonly<Record<string, string>>;
  /** Faults of a message. */
  details?: Readonly<Record<string, readonly FieldError[]>>;
}

/** Meanings of the codes of `error.details`. */
export const FIELD_ERROR_TEXTS: Readonly<Record<FieldErrorCode, string>> = {
  required: 'It is missing.',
  unknown_field: 'The operation has no such field or parameter.',
  duplicate: 'It is given twice, or a list names a value twice.',
  invalid_type: 'The JSON type is wrong.',
  invalid_format: 'The text does not have the form that is expected: JSON, UTF-8, a time, a UUID, a URL, …',
  invalid_characters: 'The text has control characters, invisible characters or lone surrogates.',
  not_allowed: 'The value is none of those allowed, or not allowed together with the others.',
  too_short: 'The text has fewer characters than `limit`.',
  too_long: 'The text has more characters than `limit`.',
  too_few: 'The list has fewer items than `limit`.',
  too_many: 'The list or object has more items than `limit`.',
  too_small: 'The number is less than `limit`.',
  too_large: 'The number is greater than `limit`.',
  url_scheme: 'The URL does not use https.',
  url_credentials: 'The URL contains credentials.',
  url_fragment: 'The URL contains a fragment.',
  url_port: 'The port is neither 443 nor at least 1024.',
  url_host: 'The host is neither a public name nor a public address.',
  url_blocked: 'The operator of the service has blocked the host.',
};

/** Examples of invalid requests. */
const FAULTS: Readonly<Record<string, readonly FieldError[]>> = {
  'a field': [
    { field: 'channelId', code: 'too_long', message: 'must have at most 200 characters', limit: 200 },
  ],
  'several fields': [
    {
      field: 'externalUserID',
      code: 'unknown_field',
      message: 'is not a known field (nearest: externalUserId)',
    },
    { field: 'externalUserId', code: 'required', message: 'is required' },
  ],
  'the body': [{ field: 'body', code: 'invalid_format', message: 'is not valid JSON' }],
  'the limit of a page': [{ field: 'limit', code: 'invalid_format', message: 'must be an integer' }],
  'an unknown parameter': [
    { field: 'page', code: 'unknown_field', message: 'is not a known parameter (nearest: limit)' },
  ],
  'the environment': [{ field: 'environment', code: 'not_allowed', message: 'must be one of live, sandbox' }],
  'a cursor of another listing': [
    { field: 'cursor', code: 'invalid_format', message: 'is not valid for this list' },
  ],
  'the idempotency key': [{ field: 'Idempotency-Key', code: 'invalid_format', message: 'must be a UUID' }],
};

export const PROBLEM_TEXTS: Record<ProblemType, ProblemText> = {
  VALIDATION_ERROR: {
    description:
      'The body, a parameter or a header is invalid. `details` lists every fault with its field and constraint. Correct the request before you retry it.',
    messages: Object.fromEntries(
      Object.entries(FAULTS).map(([about, faults]) => [about, invalid(...faults).message]),
    ),
    details: FAULTS,
  },
  AUTHENTICATION_ERROR: {
    description:
      'The credential is missing, unknown, malformed, revoked or expired; the response does not say which. Do not retry with the same credential.',
    messages: {
      'no valid key': 'A valid API key is required: Authorization: Bearer ck_….',
      'no valid token': 'A valid visitor token is required: Authorization: Bearer cvt_….',
    },
    sessionMessages: {
      'no valid session':
        'A valid dashboard session is required: Authorization: Bearer, or the session cookie.',
    },
  },
  PERMISSION_DENIED: {
    description:
      'The credential is valid but lacks permission. The message names what is missing, such as the scope of a key.',
    messages: { 'a missing scope': 'The API key lacks the scope write:webhooks.' },
    sessionMessages: {
      'a key instead of a session': 'A dashboard session is required; API keys are not accepted here.',
      'a missing role': 'Only admins of the organization may do this.',
    },
  },
  NOT_FOUND: {
    description: 'The resource does not exist in the caller’s organization, or the path is of no operation.',
    messages: { 'an unknown identifier': 'No such resource.', 'an unknown path': 'No such route.' },
  },
  METHOD_NOT_ALLOWED: {
    description: 'The path does not have this method. `Allow` lists its methods.',
    messages: { 'a wrong method': 'The path does not have this method.' },
  },
  CONFLICT: {
    description:
      'The state of the resource forbids the operation, or a request with the same `Idempotency-Key` is in progress. The message says which. Read the resource before you retry.',
    messages: { 'a request in progress': 'A request with this Idempotency-Key is being processed.' },
  },
  SANDBOX_NOT_PROVISIONED: {
    description: 'The organization has no sandbox. An admin can provision one.',
    messages: { 'no sandbox': 'The organization has no sandbox. Provision one first.' },
  },
  LIMIT_EXCEEDED: {
    description: 'The organization has reached the limit for this resource. Delete one first.',
    messages: {
      'too many channels': 'An organization can have at most 40 channels. Delete one first.',
      'too many endpoints': 'An organization can have at most 50 webhook endpoints. Delete one first.',
      'too many endpoints at one host':
        'An organization can have at most 10 webhook endpoints at one host, including disabled ones. Delete one at this host first, or subscribe one endpoint to several events.',
      'too many sources': 'An organization can have at most 1000 content sources. Delete one first.',
    },
  },
  GONE: {
    description:
      'The operation was shut down at its `Sunset` date, or the replayed request created an endpoint or channel that was deleted.',
    messages: {
      'a deleted endpoint':
        'The webhook endpoint that this request registered was deleted. Register it with a new Idempotency-Key.',
      'a deleted channel':
        'The channel that this request created was deleted. Create it with a new Idempotency-Key.',
      'after the sunset':
        'This operation is no longer available. See the migration guide in the Link header, if present.',
    },
  },
  PAYLOAD_TOO_LARGE: {
    description: 'The body is larger than 262,144 bytes (256 KiB).',
    messages: { 'a large body': 'The body must be at most 262144 bytes.' },
  },
  UNSUPPORTED_MEDIA_TYPE: {
    description: 'The `Content-Type` of the body is not `application/json`, or it has a `Content-Encoding`.',
    messages: {
      'another type': 'The body must be JSON, with Content-Type: application/json.',
      'a compressed body': 'The body must be sent without a Content-Encoding.',
    },
  },
  IDEMPOTENCY_KEY_REUSED: {
    description:
      'The `Idempotency-Key` was used within the last 24 hours for a different request to this operation. Use a new key.',
    messages: {
      'another request': 'The Idempotency-Key was already used with a different request. Use a new key.',
    },
  },
  RATE_LIMITED: {
    description:
      'The rate limit of the organization, or of this operation, is used up. Retry after `Retry-After` seconds.',
    messages: {
      'too many requests': 'Too many requests. Retry after the number of seconds in Retry-After.',
      'a check that was just asked for':
        'A check of this source was requested less than a minute ago. Retry after the number of seconds in Retry-After.',
    },
  },
  REQUEST_HEADERS_TOO_LARGE: {
    description:
      'The request line and the headers have more than 10,240 bytes together. Send fewer or smaller headers.',
    messages: { 'large headers': 'The headers must be at most 10240 bytes, with the request line.' },
  },
  INTERNAL_ERROR: {
    description:
      'The service failed, and the request may have taken effect. Retry it, with the same `Idempotency-Key` if the operation takes one.',
    messages: {
      'a defect': 'An internal error occurred. Retry later, and include the requestId when you report it.',
    },
  },
  SERVICE_UNAVAILABLE: {
    description:
      'The service is busy or partly down. Retry after `Retry-After` seconds with increasing delays, with the same `Idempotency-Key` if the operation takes one.',
    messages: { busy: 'The service is busy. Try again shortly.' },
  },
};
