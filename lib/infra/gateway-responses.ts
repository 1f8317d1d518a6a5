import { PROBLEM_STATUS, type ProblemType } from '../../functions/http/problem.ts';

/** Id of a request in header and envelope. AWS lets clients override `requestId`, but not this one. */
export const REQUEST_ID = 'context.extendedRequestId';

export function envelope(type: ProblemType, message: string): string {
  return `{"error":{"type":"${type}","message":${JSON.stringify(message)},"requestId":"$${REQUEST_ID}"}}`;
}

interface GatewayAnswer {
  /** One of the types that API Gateway has (API reference, GatewayResponse). */
  type: string;
  problem: ProblemType;
  /** Fixed: the gateway's own message may repeat a caller's input, such as a header value. */
  message: string;
  /** Absent where the gateway's own status is right, or varies. */
  status?: number;
  headers?: Record<string, string>;
}

const RETRY = { 'Retry-After': "'1'" };

/** The gateway's own responses, in the functions' envelope (docs/specification.md, Error types). */
const ANSWERS: readonly GatewayAnswer[] = [
  {
    type: 'REQUEST_TOO_LARGE',
    problem: 'PAYLOAD_TOO_LARGE',
    message: 'The body must be at most 262144 bytes.',
  },
  { type: 'BAD_REQUEST_BODY', problem: 'VALIDATION_ERROR', message: 'The body is not valid.' },
  {
    type: 'BAD_REQUEST_PARAMETERS',
    problem: 'VALIDATION_ERROR',
    message: 'The parameters are not valid.',
  },
  { type: 'THROTTLED', problem: 'RATE_LIMITED', message: 'Too many requests.', headers: RETRY },
  {
    type: 'QUOTA_EXCEEDED',
    problem: 'RATE_LIMITED',
    message: 'Too many requests.',
    headers: RETRY,
  },
  {
    type: 'INTEGRATION_TIMEOUT',
    problem: 'SERVICE_UNAVAILABLE',
    message: 'The service is busy. Try again shortly.',
    status: PROBLEM_STATUS.SERVICE_UNAVAILABLE,
    headers: RETRY,
  },
  {
    type: 'INTEGRATION_FAILURE',
    problem: 'SERVICE_UNAVAILABLE',
    message: 'The service is busy. Try again shortly.',
    status: PROBLEM_STATUS.SERVICE_UNAVAILABLE,
    headers: RETRY,
  },
  {
    type: 'UNAUTHORIZED',
    problem: 'AUTHENTICATION_ERROR',
    message: 'Authentication is required.',
  },
  {
    type: 'INVALID_API_KEY',
    problem: 'AUTHENTICATION_ERROR',
    message: 'Authentication is required.',
    status: PROBLEM_STATUS.AUTHENTICATION_ERROR,
  },
  { type: 'ACCESS_DENIED', problem: 'PERMISSION_DENIED', message: 'Access is denied.' },
  {
    type: 'WAF_FILTERED',
    problem: 'PERMISSION_DENIED',
    message: 'The request was blocked before it reached the API.',
  },
  {
    // Errors of a request that no method matches: about a token, or an AWS signature, as which the gateway
    // then reads any Authorization header. Functions refuse other requests themselves.
    type: 'DEFAULT_4XX',
    problem: 'NOT_FOUND',
    message: 'No such route.',
    status: PROBLEM_STATUS.NOT_FOUND,
  },
  {
    type: 'DEFAULT_5XX',
    problem: 'INTERNAL_ERROR',
    message: 'An internal error occurred. Retry later, and include the requestId when you report it.',
    status: PROBLEM_STATUS.INTERNAL_ERROR,
  },
];

/** The gateway's own responses, as an extension of OpenAPI (`x-amazon-apigateway-gateway-responses`). */
export const gatewayResponses = (): Record<string, object> =>
  Object.fromEntries(
    ANSWERS.map(({ type, problem, message, status, headers }) => [
      type,
      {
        ...(status === undefined ? {} : { statusCode: String(status) }),
        responseParameters: Object.fromEntries(
          Object.entries({ 'Request-Id': REQUEST_ID, 'Cache-Control': "'no-store'", ...headers }).map(
            ([name, value]) => [`gatewayresponse.header.${name}`, value],
          ),
        ),
        responseTemplates: { 'application/json': envelope(problem, message) },
      },
    ]),
  );
