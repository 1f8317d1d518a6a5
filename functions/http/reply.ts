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
): Success => ({ kind: 'success', data, ...extra });

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
