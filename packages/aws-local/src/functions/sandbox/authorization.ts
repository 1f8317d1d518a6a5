import type http from 'node:http';
import { Readable } from 'node:stream';
import { refusalByDynamoDb } from '../../permissions/dynamodb-rules.ts';
// Loaded in every sandbox before its function: no schema library.
import { allows } from '../../permissions/permissions.ts';
import { type PermissionRequest, requestsOf, type Service } from '../../permissions/requests.ts';
import { AUTHORIZATION_VARIABLE, type SandboxAuthorization } from '../environment.ts';

export interface Authorization extends SandboxAuthorization {
  /** Cached decisions: a function repeats the same few calls. */
  decided: Map<string, boolean>;
  /** ARNs of streams with an iterator of the function, by table name. */
  streams: Map<string, string>;
  /** Called with each new decision. */
  report(asked: PermissionRequest, isAllowed: boolean): void;
}

/** Reads the function's role from the environment and removes it before the handler loads. */
export function authorizationFromEnvironment(
  environment: NodeJS.ProcessEnv,
  report: Authorization['report'],
): Authorization | undefined {
  const value = environment[AUTHORIZATION_VARIABLE];
  delete environment[AUTHORIZATION_VARIABLE];
  if (value === undefined) return undefined;
  const given: SandboxAuthorization = JSON.parse(value);
  return { ...given, decided: new Map(), streams: new Map(), report };
}

/**
 * Holds an engine call until its body is complete, then sends it, or answers in the engine's place when the
 * role does not allow every action of the call, or DynamoDB would refuse what the engine accepts. Calls to
 * other hosts pass.
 */
export function guard(call: http.ClientRequest, authorization: Authorization): void {
  if (!authorization.hosts.includes(String(call.getHeader('host')))) return;
  const send = call.end.bind(call);
  const chunks: Buffer[] = [];
  const collect = (chunk: unknown): void => {
    if (typeof chunk === 'string') chunks.push(Buffer.from(chunk));
    else if (chunk instanceof Uint8Array) chunks.push(Buffer.from(chunk));
  };
  const write = (chunk: unknown): boolean => {
    collect(chunk);
    return true;
  };
  const end = (chunk?: unknown): http.ClientRequest => {
    collect(chunk);
    const body = Buffer.concat(chunks);
    const target = findOperation(call);
    const service = findService(target);
    const asked: unknown = service === 'lambda' ? invokedFunction(call) : JSON.parse(body.toString());
    const forbidden = refusalOf(service, target, asked, authorization);
    if (forbidden !== undefined) return refuse(call, 'AccessDeniedException', forbidden);
    const invalid = service === 'dynamodb' ? faultOf(target, asked, authorization) : undefined;
    return invalid === undefined ? send(body) : refuse(call, 'ValidationException', invalid);
  };
  Object.assign(call, { write, end });
}

const SERVICES: Readonly<Record<string, Service>> = {
  AWSCognitoIdentityProviderService: 'cognito-idp',
  AWSEvents: 'events',
  AmazonSQS: 'sqs',
  DynamoDB_20120810: 'dynamodb',
  DynamoDBStreams_20120810: 'dynamodb',
  Lambda: 'lambda',
  SES: 'ses',
  secretsmanager: 'secretsmanager',
};

/** Operations of services with REST protocols, by method and path. */
const REST_OPERATIONS: Readonly<Record<string, string>> = {
  'POST /v2/email/outbound-emails': 'SES.SendEmail',
};

/** The operation after its service's name, as in `X-Amz-Target`; a name without a service is a REST call. */
function findOperation(call: http.ClientRequest): string {
  const target = call.getHeader('x-amz-target');
  if (typeof target === 'string') return target;
  if (invokedFunction(call)) return 'Lambda.Invoke';
  const asked = `${call.method} ${call.path.split('?', 1)[0]}`;
  return REST_OPERATIONS[asked] ?? asked;
}

/** What a call of Lambda's `Invoke` names; its body is the function's event. */
function invokedFunction({ method, path }: http.ClientRequest): { FunctionName: string } | undefined {
  const [, name] = /^\/2015-03-31\/functions\/([^/]+)\/invocations/.exec(path) ?? [];
  return method === 'POST' && name !== undefined ? { FunctionName: decodeURIComponent(name) } : undefined;
}

/** Derived from the operation, because one emulator may serve several services at one endpoint. */
function findService(target: string): Service {
  const [name = ''] = target.split('.');
  const service = SERVICES[name];
  if (!service) throw new Error(`The local run does not know the service of the call ${target}`);
  return service;
}

/**
 * AWS's message for a call that the role forbids; undefined where it is allowed or roles are not enforced.
 */
function refusalOf(
  service: Service,
  target: string,
  body: unknown,
  authorization: Authorization,
): string | undefined {
  const { principal, decided, streams, rolesEnforced = true } = authorization;
  for (const request of requestsOf(service, target, withStream(body, streams))) {
    const { action, resource } = request;
    const question = `${action} ${resource}`;
    const isAllowed = decided.get(question) ?? decide(request, authorization);
    decided.set(question, isAllowed);
    if (!isAllowed && rolesEnforced) {
      return `User: ${principal} is not authorized to perform: ${action} on resource: ${resource} because no identity-based policy allows the ${action} action`;
    }
  }
  return undefined;
}

/** DynamoDB's message for a request that it refuses. */
function faultOf(
  target: string,
  body: unknown,
  { tableKeys }: Pick<Authorization, 'tableKeys'>,
): string | undefined {
  return refusalByDynamoDb(target, body, (table) => {
    // A table may be named by its ARN.
    const name = table.slice(table.lastIndexOf('/') + 1);
    return Object.hasOwn(tableKeys, name) ? tableKeys[name] : undefined;
  });
}

function decide(asked: PermissionRequest, { statements, report }: Authorization): boolean {
  const { action, resource, or } = asked;
  const isAllowed = [resource, ...(or === undefined ? [] : [or])].some((target) =>
    allows(statements, action, target),
  );
  report(asked, isAllowed);
  return isAllowed;
}

/**
 * Adds the stream to a request: `GetRecords` names only an iterator, and the embedded engine's names only the
 * table.
 */
function withStream(body: unknown, streams: Map<string, string>): unknown {
  if (typeof body !== 'object' || body === null) return body;
  if ('StreamArn' in body && typeof body.StreamArn === 'string') {
    const table = /:table\/([^/]+)\//.exec(body.StreamArn)?.[1];
    if (table !== undefined) streams.set(table, body.StreamArn);
  } else if ('ShardIterator' in body && typeof body.ShardIterator === 'string') {
    const iterator = Buffer.from(body.ShardIterator, 'base64').toString();
    const table = /"table_name":"([^"]+)"/.exec(iterator)?.[1];
    return { ...body, StreamArn: streams.get(table ?? '') };
  }
  return body;
}

function refuse(call: http.ClientRequest, type: string, message: string): http.ClientRequest {
  process.stderr.write(`${type}: ${message}\n`);
  const body = JSON.stringify({ __type: type, message, Message: message });
  const response = Object.assign(Readable.from([Buffer.from(body)]), {
    statusCode: 400,
    statusMessage: 'Bad Request',
    headers: { 'content-type': 'application/x-amz-json-1.0', 'x-amzn-requestid': 'local' },
  });
  // Emitted before the unsent request is dropped, so that its "socket hang up" comes after the answer.
  process.nextTick(() => {
    call.emit('response', response);
    call.destroy();
  });
  return call;
}
