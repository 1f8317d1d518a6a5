import type { APIGatewayProxyResult } from 'aws-lambda';
import { PROBLEM_STATUS, type Problem } from './problem.ts';

/** A success. The route's schema builds the response from `data`. */
export interface Success {
  kind: 'success';
  data: unknown;
  /** Lists only; null on the last page. */
  nextCursor?: string | null;
  /** Lists that can be followed only; null when nothing can follow. */
  followCursor?: string | null;
  /** Path of the created resource. */
  location?: string;
  /** Where it is not the route's own status. */
  status?: number;
  /** The response was first given to an earlier request with the same idempotency key. */
  replayed?: true;
}

/** What a use case returns. */
export type Reply<P extends Problem = Problem> = Success | P;

export const success = (
  data: unknown,
  extra: Pick<Success, 'location' | 'nextCursor' | 'followCursor' | 'status'> = {},
): Success => ({
  kind: 'success',
  data,
  ...extra,
});

const COMMON_HEADERS = {
  'Content-Type': 'application/json',
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
};

/**
 * Builds the response (docs/specification.md, Response envelope, Error envelope). `error.requestId` equals
 * the `Request-Id` header; a 204 has no body.
 * @param common headers of every response
 */
export function toResult(
  reply: Reply,
  requestId: string,
  common: Record<string, string>,
): APIGatewayProxyResult {
  const headers = { ...COMMON_HEADERS, ...common, 'Request-Id': requestId };
  if (reply.kind === 'problem') {
    const { type, message, details } = reply;
    return {
      statusCode: PROBLEM_STATUS[type],
      headers: { ...headers, ...reply.headers },
      body: JSON.stringify({ error: { type, message, requestId, details } }),
    };
  }
  const { data, nextCursor, followCursor, location, replayed, status = 200 } = reply;
  return {
    statusCode: status,
    headers: {
      ...headers,
      ...(location === undefined ? {} : { Location: location }),
      ...(replayed ? { 'Idempotency-Replayed': 'true' } : {}),
    },
    body: status === 204 ? '' : JSON.stringify({ success: true, data, nextCursor, followCursor }),
  };
}

/**
 * JSON bytes after which a page ends. A Lambda response has at most 6 MB (Lambda quotas), in which the body's
 * quotation marks are escaped again.
 */
const PAGE_BYTES = 2_000_000;
/** Bytes that a response adds to an item: null fields. */
const NULLS_BYTES = 1_000;

const getBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value) ?? '');

/**
 * Returns the first items that fit into a page, at least one.
 * @param shown the item as the response has it
 */
export function fitIntoPage<T>(items: readonly T[], shown: (item: T) => unknown): readonly T[] {
  // Almost every page: responses hold a part of the rows.
  if (getBytes(items) + items.length * NULLS_BYTES <= PAGE_BYTES) return items;
  let bytes = 0;
  const end = items.findIndex((item) => {
    bytes += getBytes(shown(item)) + 1;
    return bytes > PAGE_BYTES;
  });
  return end < 0 ? items : items.slice(0, Math.max(1, end));
}
