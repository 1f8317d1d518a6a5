import type { CloudOptions } from 'aws-local/cloud.ts';
import { problem } from '../../../functions/domain/problem.ts';
import { problemResult } from '../../../functions/platform/reply.ts';

const HEADERS = problem(
  'REQUEST_HEADERS_TOO_LARGE',
  'The headers must be at most 10240 bytes, with the request line.',
);
const REQUEST = problem('VALIDATION_ERROR', 'The request is not valid HTTP.');

/** The service's requirements beyond its template. */
export const LOCAL_SERVICE = {
  // Allows receivers at loopback addresses; functions refuse the variable in Lambda.
  environment: { LOOPBACK_RECEIVERS: 'allow' },
  redirects: { '/docs': '/api/docs' },
  unreadable: (statusCode, requestId) => {
    const { body, headers } = problemResult(statusCode === 431 ? HEADERS : REQUEST, requestId, {});
    return { statusCode, headers, body };
  },
} satisfies Partial<CloudOptions>;
