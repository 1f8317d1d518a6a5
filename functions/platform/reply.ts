import type { APIGatewayProxyResult } from 'aws-lambda';
import { PROBLEM_STATUS, type Problem } from '../domain/problem.ts';

/** A success. `data` is what the route's schema builds the answer from. */
export interface Success {
  kind: 'success';
  data: unknown;
  /** Only on lists; null on the last page. */
  nextCursor?: string | null;
  /** Path of what was created. */
  location?: string;
  /** The answer was first given to an earlier request with the same idempotency key. */
  replayed?: true;
}

export type Reply = Success | Problem;

export const success = (
  data: unknown,
  extra: { location?: string; nextCursor?: string | null } = {},
): Success => ({
  kind: 'success',
  data,
  ...extra,
});

const COMMON = {
  'Content-Type': 'application/json',
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
};

type Headers = Record<string, string>;

/** The error envelope (public-api.md, Errors). `error.requestId` equals the `Request-Id` header. */
export function problemResult(
  { type, message, headers }: Problem,
  requestId: string,
  common: Headers,
): APIGatewayProxyResult {
  return {
    statusCode: PROBLEM_STATUS[type],
    headers: { ...COMMON, ...common, 'Request-Id': requestId, ...headers },
    body: JSON.stringify({ error: { type, message, requestId } }),
  };
}

/** The success envelope (public-api.md, Response envelope); no body at all with 204. */
export function successResult(
  status: number,
  { data, nextCursor, location, replayed }: Success,
  requestId: string,
  common: Headers,
): APIGatewayProxyResult {
  return {
    statusCode: status,
    headers: {
      ...COMMON,
      ...common,
      'Request-Id': requestId,
      ...(location === undefined ? {} : { Location: location }),
      ...(replayed ? { 'Idempotency-Replayed': 'true' } : {}),
    },
    body:
      status === 204
        ? ''
        : JSON.stringify({ success: true, data, ...(nextCursor === undefined ? {} : { nextCursor }) }),
  };
}

/**
 * Bytes of JSON after which a page ends. A Lambda response has 6 MB at most (Lambda quotas), in which the
 * body is a string whose quotation marks are escaped once more.
 */
const PAGE_BYTES = 2_000_000;
/** What an answer says of an item beyond its row: fields that are null. */
const NULLS_BYTES = 1_000;

const getBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value) ?? '');

/**
 * The first items that a page has room for, one at least.
 * @param shown what an answer says of an item
 */
export function fitIntoRequest<T>(items: readonly T[], shown: (item: T) => unknown): readonly T[] {
  // Almost every page: what is shown of rows is a part of them.
  if (getBytes(items) + items.length * NULLS_BYTES <= PAGE_BYTES) return items;
  let bytes = 0;
  const end = items.findIndex((item) => {
    bytes += getBytes(shown(item)) + 1;
    return bytes > PAGE_BYTES;
  });
  return end < 0 ? items : items.slice(0, Math.max(1, end));
}
