import { REQUEST_ID } from './example-values.ts';
import type { Header } from './openapi.ts';

const text = { type: 'string' } as const;

/** Response headers by the names under which responses refer to them. */
export const HEADERS = {
  'Request-Id': {
    description:
      'Names the request, in every answer. In errors it equals `error.requestId`. Quote it to support.',
    required: true,
    schema: text,
    example: REQUEST_ID,
  },
  'RateLimit-Policy': {
    description:
      'The quota of the organization’s tier, or of its sandbox: `q` tokens in a window of `w` seconds. Most requests cost one. On every answer to a caller that is known, unless the limiter itself was unavailable.',
    schema: text,
    example: '"standard";q=600;w=60',
  },
  RateLimit: {
    description: 'What is left after the request: `r` tokens until the window ends in `t` seconds.',
    schema: text,
    example: '"standard";r=587;t=42',
  },
  'Retry-After': {
    description: 'Seconds after which to try again.',
    required: true,
    schema: { type: 'integer', minimum: 1 },
    example: 18,
  },
  'Idempotency-Replayed': {
    description:
      '`true` when this is the answer to an earlier request with the same `Idempotency-Key`; absent otherwise.',
    schema: { type: 'string', enum: ['true'] },
    example: 'true',
  },
  'WWW-Authenticate': {
    description:
      'How to authenticate. Behind API Gateway without a custom distribution it is called `x-amzn-remapped-www-authenticate`.',
    schema: text,
    example: 'Bearer realm="conversation-service"',
  },
  'Access-Control-Allow-Origin': {
    description: 'Always `*`: pages of any site may read the answer.',
    required: true,
    schema: { type: 'string', enum: ['*'] },
    example: '*',
  },
  'Access-Control-Expose-Headers': {
    description: 'Which headers of the answer pages may read.',
    required: true,
    schema: text,
    example: 'RateLimit, RateLimit-Policy, Request-Id, Retry-After',
  },
  Deprecation: {
    description: '`true`, or the HTTP-date from which the operation is deprecated.',
    required: true,
    schema: text,
  },
  Sunset: {
    description: 'HTTP-date from which the operation answers nothing but 410.',
    required: true,
    schema: text,
  },
  Link: {
    description: 'With `rel="deprecation"`: the migration guide.',
    schema: text,
  },
} as const satisfies Record<string, Header>;

export type HeaderName = keyof typeof HEADERS;

/** Where to find what was created; its example differs from operation to operation. */
export const locationHeader = (example: string): Header => ({
  description: 'Path of what was created.',
  required: true,
  schema: { type: 'string', format: 'uri-reference' },
  example,
});

/** References to headers, by their names. */
export const headerRefs = (names: readonly HeaderName[]) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
