import { REQUEST_ID } from './example-values.ts';
import type { Header } from './openapi.ts';

const text = { type: 'string' } as const;

/** Response headers by the names under which responses refer to them. */
export const HEADERS = {
  'Request-Id': {
    description: 'Identifier of the request, equal to `error.requestId` in errors. Quote it to support.',
    required: true,
    schema: text,
    example: REQUEST_ID,
  },
  'RateLimit-Policy': {
    description:
      'Rate limit of the organization’s tier or sandbox: `q` tokens per window of `w` seconds. Most requests cost one. Present on every authenticated response unless the rate limiter is unavailable.',
    schema: text,
    example: '"standard";q=600;w=60',
  },
  RateLimit: {
    description: 'Remaining tokens: `r` until the window ends in `t` seconds.',
    schema: text,
    example: '"standard";r=587;t=42',
  },
  'Retry-After': {
    description: 'Seconds to wait before a retry.',
    required: true,
    schema: { type: 'integer', minimum: 1 },
    example: 18,
  },
  'Idempotency-Replayed': {
    description:
      '`true` if this is the response to an earlier request with the same `Idempotency-Key`; absent otherwise.',
    schema: { type: 'string', enum: ['true'] },
    example: 'true',
  },
  'WWW-Authenticate': {
    description:
      'How to authenticate. API Gateway without a custom distribution renames it to `x-amzn-remapped-www-authenticate`.',
    schema: text,
    example: 'Bearer realm="conversation-service"',
  },
  'Access-Control-Allow-Origin': {
    description: 'Always `*`: pages of any site can read the response.',
    required: true,
    schema: { type: 'string', enum: ['*'] },
    example: '*',
  },
  'Access-Control-Expose-Headers': {
    description: 'Response headers that pages can read.',
    required: true,
    schema: text,
    example: 'Idempotency-Replayed, RateLimit, RateLimit-Policy, Request-Id, Retry-After',
  },
  Deprecation: {
    description: '`true`, or the HTTP-date of the deprecation.',
    required: true,
    schema: text,
  },
  Sunset: {
    description: 'HTTP-date from which the operation returns 410.',
    required: true,
    schema: text,
  },
  Link: {
    description: 'Migration guide, with `rel="deprecation"`.',
    schema: text,
  },
} as const satisfies Record<string, Header>;

export type HeaderName = keyof typeof HEADERS;

/** Where to find what was created; its example differs from operation to operation. */
export const locationHeader = (example: string, required: boolean): Header => ({
  description: `Path of the created resource${required ? '' : '; absent when there was nothing to do'}.`,
  required,
  schema: { type: 'string', format: 'uri-reference' },
  example,
});

/** References to headers, by their names. */
export const headerRefs = (names: readonly HeaderName[]) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
