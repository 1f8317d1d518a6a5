import * as apigateway from 'aws-cdk-lib/aws-apigateway';
import type { Construct } from 'constructs';
import { PROBLEM_STATUS, type ProblemType } from '../../functions/http/problem.ts';

/** Id of a request in header and envelope. AWS lets clients override `requestId`, but not this one. */
export const REQUEST_ID = 'context.extendedRequestId';

export function envelope(type: ProblemType, message: string): string {
  return `{"error":{"type":"${type}","message":${JSON.stringify(message)},"requestId":"$${REQUEST_ID}"}}`;
}

interface GatewayAnswer {
  type: apigateway.ResponseType;
  problem: ProblemType;
  /** Fixed: the gateway's own message may repeat a caller's input, such as a header value. */
  message: string;
  /** Absent where the gateway's own status is right, or varies. */
  status?: number;
  headers?: Record<string, string>;
}

const { ResponseType } = apigateway;
const RETRY = { 'Retry-After': "'1'" };

/** The gateway's own responses, in the functions' envelope (docs/specification.md, Error types). */
const ANSWERS: readonly GatewayAnswer[] = [
  {
    type: ResponseType.REQUEST_TOO_LARGE,
    problem: 'PAYLOAD_TOO_LARGE',
    message: 'The body must be at most 262144 bytes.',
  },
  { type: ResponseType.BAD_REQUEST_BODY, problem: 'VALIDATION_ERROR', message: 'The body is not valid.' },
  {
    type: ResponseType.BAD_REQUEST_PARAMETERS,
    problem: 'VALIDATION_ERROR',
    message: 'The parameters are not valid.',
  },
  { type: ResponseType.THROTTLED, problem: 'RATE_LIMITED', message: 'Too many requests.', headers: RETRY },
  {
    type: ResponseType.QUOTA_EXCEEDED,
    problem: 'RATE_LIMITED',
    message: 'Too many requests.',
    headers: RETRY,
  },
  {
    type: ResponseType.INTEGRATION_TIMEOUT,
    problem: 'SERVICE_UNAVAILABLE',
    message: 'The service is busy. Try again shortly.',
    status: PROBLEM_STATUS.SERVICE_UNAVAILABLE,
    headers: RETRY,
  },
  {
    type: ResponseType.INTEGRATION_FAILURE,
    problem: 'SERVICE_UNAVAILABLE',
    message: 'The service is busy. Try again shortly.',
    status: PROBLEM_STATUS.SERVICE_UNAVAILABLE,
    headers: RETRY,
  },
  {
    type: ResponseType.UNAUTHORIZED,
    problem: 'AUTHENTICATION_ERROR',
    message: 'Authentication is required.',
  },
  {
    type: ResponseType.INVALID_API_KEY,
    problem: 'AUTHENTICATION_ERROR',
    message: 'Authentication is required.',
    status: PROBLEM_STATUS.AUTHENTICATION_ERROR,
  },
  { type: ResponseType.ACCESS_DENIED, problem: 'PERMISSION_DENIED', message: 'Access is denied.' },
  {
    type: ResponseType.WAF_FILTERED,
    problem: 'PERMISSION_DENIED',
    message: 'The request was blocked before it reached the API.',
  },
  {
    // Errors of a request that no method matches: about a token, or an AWS signature, as which the gateway
    // then reads any Authorization header. Functions refuse other requests themselves.
    type: ResponseType.DEFAULT_4XX,
    problem: 'NOT_FOUND',
    message: 'No such route.',
    status: PROBLEM_STATUS.NOT_FOUND,
  },
  {
    type: ResponseType.DEFAULT_5XX,
    problem: 'INTERNAL_ERROR',
    message: 'An internal error occurred. Retry later, and include the requestId when you report it.',
    status: PROBLEM_STATUS.INTERNAL_ERROR,
  },
];

export function addGatewayResponses(api: apigateway.RestApi): Construct[] {
  return ANSWERS.map(({ type, problem, message, status, headers }) =>
    api.addGatewayResponse(type.responseType, {
      type,
      ...(status === undefined ? {} : { statusCode: String(status) }),
      responseHeaders: { 'Request-Id': REQUEST_ID, 'Cache-Control': "'no-store'", ...headers },
      templates: {
        'application/json': envelope(problem, message),
      },
    }),
  );
}
