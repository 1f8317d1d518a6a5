import { describe, expect, it } from 'vitest';
import { PROBLEM_STATUS, type ProblemType } from '../../../functions/http/problem.ts';

/** The statuses of docs/specification.md, Error types. */
const PROMISED: Record<ProblemType, number> = {
  VALIDATION_ERROR: 400,
  AUTHENTICATION_ERROR: 401,
  PERMISSION_DENIED: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  CONFLICT: 409,
  SANDBOX_NOT_PROVISIONED: 409,
  LIMIT_EXCEEDED: 409,
  GONE: 410,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  IDEMPOTENCY_KEY_REUSED: 422,
  RATE_LIMITED: 429,
  REQUEST_HEADERS_TOO_LARGE: 431,
  INTERNAL_ERROR: 500,
  SERVICE_UNAVAILABLE: 503,
};

describe('problem', () => {
  it('has the specified status of its type', () => {
    expect(PROBLEM_STATUS).toEqual(PROMISED);
  });
});
