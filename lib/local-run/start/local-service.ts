import type { CloudOptions } from 'aws-local/cloud.ts';

/** Errors of requests that reach no API, by status (docs/specification.md, Error types). */
export const UNREADABLE = {
  400: { type: 'VALIDATION_ERROR', message: 'The request is not valid HTTP.' },
  431: {
    type: 'REQUEST_HEADERS_TOO_LARGE',
    message: 'The headers must be at most 10240 bytes, with the request line.',
  },
} as const;

/** The service's requirements beyond its template. */
export const LOCAL_SERVICE = {
  // Functions refuse the first in Lambda. This machine may have a route to IPv6.
  environment: { LOOPBACK_RECEIVERS: 'allow', IPV6_RECEIVERS: 'allow' },
  redirects: { '/docs': '/api/docs' },
  unreadable: (statusCode, requestId) => ({
    statusCode,
    headers: { 'Content-Type': 'application/json', 'Cache-Control': 'no-store', 'Request-Id': requestId },
    body: JSON.stringify({ error: { ...UNREADABLE[statusCode], requestId } }),
  }),
} satisfies Partial<CloudOptions>;
