import type { APIGatewayEventIdentity, APIGatewayProxyEvent } from 'aws-lambda';
import { ACCOUNT } from '../arns.ts';
import type { Context } from './context.ts';
import type { GatewayRequest } from './request.ts';

/** Time, stage and ids of a request. */
export interface Arrival {
  requestId: string;
  /** A client cannot choose this id. */
  extendedRequestId: string;
  /** Root of the trace that the gateway starts for a request without one. */
  traceId: string;
  time: Date;
  stage: string;
  apiId: string;
  domainName: string;
}

export interface MatchedRoute {
  resourceId: string;
  resourcePath: string;
  parameters: Record<string, string>;
}

/**
 * The event of a Lambda proxy integration (payload format 1.0), with null where API Gateway has null.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-lambda-proxy-integrations.html
 */
export function proxyEvent(
  request: GatewayRequest,
  route: MatchedRoute,
  arrival: Arrival,
  body: Buffer,
  isBinary: boolean,
): APIGatewayProxyEvent {
  const headers = addTraceHeader(
    groupBy(request.headers, (name) => name.toLowerCase()),
    arrival,
  );
  const query = groupBy(request.query, (name) => name);
  const context = contextOf(request, arrival, route.resourcePath);
  return {
    resource: route.resourcePath,
    path: pathWithoutStage(request.path, arrival.stage),
    httpMethod: request.method,
    headers: lastOfEach(headers) ?? {},
    multiValueHeaders: headers,
    queryStringParameters: lastOfEach(query),
    multiValueQueryStringParameters: nullIfEmpty(query),
    pathParameters: nullIfEmpty(route.parameters),
    stageVariables: null,
    requestContext: {
      accountId: ACCOUNT,
      apiId: arrival.apiId,
      authorizer: undefined,
      domainName: arrival.domainName,
      domainPrefix: arrival.apiId,
      extendedRequestId: arrival.extendedRequestId,
      httpMethod: request.method,
      identity: createIdentity(request, headers),
      path: request.path,
      protocol: request.protocol,
      requestId: arrival.requestId,
      requestTime: context.requestTime,
      requestTimeEpoch: arrival.time.getTime(),
      resourceId: route.resourceId,
      resourcePath: route.resourcePath,
      stage: arrival.stage,
    },
    body: body.length === 0 ? null : body.toString(isBinary ? 'base64' : 'utf8'),
    isBase64Encoded: isBinary && body.length > 0,
  };
}

/** API Gateway adds X-Ray's header to the event. */
function addTraceHeader(headers: Record<string, string[]>, { traceId }: Arrival): Record<string, string[]> {
  const isThere = Object.keys(headers).some((name) => name.toLowerCase() === 'x-amzn-trace-id');
  return isThere ? headers : { ...headers, 'X-Amzn-Trace-Id': [`Root=${traceId}`] };
}

export function contextOf(request: GatewayRequest, arrival: Arrival, resourcePath = ''): Context {
  return {
    accountId: ACCOUNT,
    apiId: arrival.apiId,
    domainName: arrival.domainName,
    extendedRequestId: arrival.extendedRequestId,
    httpMethod: request.method,
    'identity.sourceIp': request.sourceIp,
    'identity.userAgent': request.headers.find(([name]) => name.toLowerCase() === 'user-agent')?.[1] ?? '',
    path: request.path,
    protocol: request.protocol,
    requestId: arrival.requestId,
    requestTime: commonLogTime(arrival.time),
    requestTimeEpoch: String(arrival.time.getTime()),
    resourcePath,
    stage: arrival.stage,
  };
}

function pathWithoutStage(path: string, stage: string): string {
  return path.slice(stage.length + 1) || '/';
}

function createIdentity(request: GatewayRequest, headers: Record<string, string[]>): APIGatewayEventIdentity {
  const userAgent = Object.entries(headers)
    .find(([name]) => name.toLowerCase() === 'user-agent')?.[1]
    .at(-1);
  return {
    accessKey: null,
    accountId: null,
    apiKey: null,
    apiKeyId: null,
    caller: null,
    clientCert: null,
    cognitoAuthenticationProvider: null,
    cognitoAuthenticationType: null,
    cognitoIdentityId: null,
    cognitoIdentityPoolId: null,
    principalOrgId: null,
    sourceIp: request.sourceIp,
    user: null,
    userAgent: userAgent ?? null,
    userArn: null,
  };
}

/** All values of each name, under its first spelling. */
function groupBy(
  pairs: readonly (readonly [string, string])[],
  identity: (name: string) => string,
): Record<string, string[]> {
  const groups = new Map<string, { name: string; values: string[] }>();
  for (const [name, value] of pairs) {
    const group = groups.get(identity(name)) ?? { name, values: [] };
    group.values.push(value);
    groups.set(identity(name), group);
  }
  return Object.fromEntries([...groups.values()].map(({ name, values }) => [name, values]));
}

function lastOfEach(groups: Record<string, string[]>): Record<string, string> | null {
  const last = Object.entries(groups).map(([name, values]) => [name, values.at(-1) ?? '']);
  return nullIfEmpty(Object.fromEntries(last));
}

function nullIfEmpty<Value>(record: Record<string, Value>): Record<string, Value> | null {
  return Object.keys(record).length > 0 ? record : null;
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** Common Log Format: `09/Apr/2015:12:34:56 +0000`. */
function commonLogTime(time: Date): string {
  const day = String(time.getUTCDate()).padStart(2, '0');
  return `${day}/${MONTHS[time.getUTCMonth()]}/${time.getUTCFullYear()}:${time.toISOString().slice(11, 19)} +0000`;
}
