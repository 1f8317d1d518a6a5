import { randomUUID } from 'node:crypto';
import { EVENT_BYTES } from '../functions/runtime.ts';
import type { InvocationResult } from '../functions/sandbox.ts';
import { randomText } from '../random-text.ts';
import type { Answer } from './answer.ts';
import type { FailureType } from './gateway-responses.ts';
import { type Arrival, contextOf, type MatchedRoute, proxyEvent } from './proxy-event.ts';
import { proxyAnswer } from './proxy-response.ts';
import { type GatewayRequest, headerOf, mediaTypeOf } from './request.ts';
import type { Integration, Operation, RestApi } from './rest-api.ts';
import { signatureFault } from './signature.ts';

/** A request with a known operation, before its body arrives. */
export interface Matched {
  operation: Operation;
  route: MatchedRoute;
}

/** Creates the ids of a new request. */
export function arrivalAt(api: RestApi, time: Date): Arrival {
  return {
    requestId: randomUUID(),
    // API Gateway's are 15 base64 characters and a padding.
    extendedRequestId: `${randomText(11, 'base64url')}=`,
    traceId: `1-${Math.floor(time.getTime() / 1000).toString(16)}-${randomText(12, 'hex')}`,
    time,
    stage: api.stage,
    apiId: api.id,
    domainName: 'localhost',
  };
}

export function failure(
  api: RestApi,
  type: FailureType,
  request: GatewayRequest,
  arrival: Arrival,
  statusCode?: number,
): Answer {
  return api.gatewayResponses(type, contextOf(request, arrival), statusCode);
}

export function unmatched(api: RestApi, request: GatewayRequest, arrival: Arrival): Answer {
  const authorization = headerOf(request, 'authorization');
  if (authorization === undefined) return failure(api, 'MISSING_AUTHENTICATION_TOKEN', request, arrival);
  const hasDate = ['x-amz-date', 'date'].some((name) => headerOf(request, name) !== undefined);
  const message = signatureFault(authorization, hasDate);
  return api.gatewayResponses('INCOMPLETE_SIGNATURE', contextOf(request, arrival), undefined, message);
}

/**
 * Slashes around a resource's path do not matter, and are in the event.
 * https://github.com/aws/chalice/issues/65, https://github.com/aws/aws-sam-cli/pull/1495,
 * https://github.com/localstack/localstack/issues/11253
 */
export function matchOperation(api: RestApi, request: GatewayRequest): Matched | undefined {
  const [stage, ...rest] = request.path.slice(1).split('/');
  const isPart = (segment: string): boolean => segment !== '';
  const segments = rest.slice(Math.max(0, rest.findIndex(isPart)), rest.findLastIndex(isPart) + 1);
  const match = stage === api.stage ? api.operations.match(request.method, segments) : undefined;
  if (!match) return undefined;
  const { resourceId, resourcePath } = match.target;
  return { operation: match.target, route: { resourceId, resourcePath, parameters: match.parameters } };
}

/**
 * Answers a complete request. Never rejects: failures are responses too.
 * @param log called when a function gave no response
 */
export async function respond(
  api: RestApi,
  { operation, route }: Matched,
  request: GatewayRequest,
  arrival: Arrival,
  body: Buffer,
  log: (text: string) => void = () => undefined,
): Promise<Answer> {
  const { integration } = operation;
  if (integration.kind === 'mock') {
    // API Gateway Developer Guide, "Content type conversions in API Gateway".
    if (api.isBinary(mediaTypeOf(request)) && !integration.convertsToText)
      return failure(api, 'DEFAULT_5XX', request, arrival);
    const answer = integration.respond(
      mediaTypeOf(request),
      body.toString(),
      contextOf(request, arrival, route.resourcePath),
    );
    return typeof answer === 'string' ? failure(api, answer, request, arrival) : answer;
  }
  const event = JSON.stringify(proxyEvent(request, route, arrival, body, api.isBinary(mediaTypeOf(request))));
  if (Buffer.byteLength(event) > EVENT_BYTES) return failure(api, 'REQUEST_TOO_LARGE', request, arrival);
  const result = await withinTimeout(integration, event);
  if (result === 'timeout') {
    log(`${request.method} ${route.resourcePath}: the function did not answer in time`);
    return failure(api, 'INTEGRATION_TIMEOUT', request, arrival);
  }
  const answer = result.functionError ? undefined : proxyAnswer(result.payload, acceptsBinary(api, request));
  if (answer !== undefined) return answer;
  log(`${request.method} ${route.resourcePath}: ${unusable(result)}`);
  return failure(api, 'DEFAULT_5XX', request, arrival, 502);
}

const unusable = ({ functionError, payload }: InvocationResult): string =>
  functionError ? `the function failed: ${JSON.stringify(payload)}` : 'the function’s answer is malformed';

/** The function continues after the gateway's timeout, as on AWS. */
async function withinTimeout(
  { target, timeoutMs }: Extract<Integration, { kind: 'function' }>,
  event: string,
): Promise<InvocationResult | 'timeout'> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<'timeout'>((resolve) => {
    timer = setTimeout(resolve, timeoutMs, 'timeout');
  });
  const result = await Promise.race([target.invokeSerialized(event), timeout]);
  clearTimeout(timer);
  return result;
}

/** API Gateway decodes a base64 body if the first type of the `Accept` header is one of its binary types. */
function acceptsBinary(api: RestApi, request: GatewayRequest): boolean {
  const [first = ''] = (headerOf(request, 'accept') ?? '').split(/[,;]/);
  return api.isBinary(first.trim().toLowerCase());
}
