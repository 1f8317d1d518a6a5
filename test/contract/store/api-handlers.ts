import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { mockClient } from 'aws-sdk-client-mock';
import { onTestFinished, vi } from 'vitest';
import { type RouteKey, routes } from '../../../functions/api/routes.ts';
import type { Keyring } from '../../../functions/aws/keyrings.ts';
import type { Route } from '../../../functions/http/route.ts';
import { anOrganization } from '../../builders.ts';
import type { dynamoDb, TestTables } from '../../engines.ts';
import { aGatewayEvent, FUNCTION_ENVIRONMENT, INVOCATION } from '../../support/functions.ts';
import { anIssuer, type Handler, importHandler } from '../api/functions.ts';

export interface Call {
  params?: Record<string, string>;
  query?: Record<string, string>;
  body?: object;
  /** Each call has an idempotency key of its own unless one is given. */
  idempotencyKey?: string;
}

/** A resource in the API's answer. */
export type Data = Record<string, unknown>;

/** Messages of all visitors of an organization of tier `standard` in a minute. */
export const VISITOR_LIMIT = 30;

type Next = (call: never) => Promise<never>;
type Step = (next: Next, context: object) => Next;

/** Endpoint of the engine, for functions that create their clients themselves. */
async function addressOf(engine: ReturnType<typeof dynamoDb>): Promise<string> {
  const endpoint = await engine.client().config.endpoint?.();
  if (endpoint === undefined) throw new Error("an engine's client must have an endpoint");
  return `${endpoint.protocol}//${endpoint.hostname}:${endpoint.port}`;
}

/** The functions of all routes as Lambda runs them on these tables, called with one key or session. */
export async function anApi(engine: ReturnType<typeof dynamoDb>, tables: TestTables, keyring: Keyring) {
  const issuer = await anIssuer();
  const secrets = mockClient(SecretsManagerClient);
  secrets.on(GetSecretValueCommand).callsFake(() => ({ SecretString: JSON.stringify(keyring) }));
  const environment: Record<string, string> = {
    ...FUNCTION_ENVIRONMENT,
    AWS_ENDPOINT_URL_DYNAMODB: await addressOf(engine),
    LOG_LEVEL: 'SILENT',
    OIDC_ISSUER: issuer.issuer,
    RATE_LIMIT_SANDBOX: '1000000',
    RATE_LIMIT_SCALE: '1000000',
    VISITOR_LIMIT_SANDBOX: '1000000',
    VISITOR_LIMIT_STANDARD: String(VISITOR_LIMIT),
    VISITOR_LIMIT_SCALE: '1000000',
    SERVICE_TABLE: tables.service.name,
    OUTBOX_TABLE: tables.outbox.name,
    DELIVERIES_TABLE: tables.deliveries.name,
    LEDGER_TABLE: tables.ledger.name,
    RATE_TABLE: tables.rates.name,
    KNOWLEDGE_TABLE: tables.knowledge.name,
    USAGE_TABLE: tables.usage.name,
  };
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  // The functions read it when they are loaded, which another file may have done.
  vi.resetModules();
  const handlers = new Map<RouteKey, Promise<Handler>>();
  /** Loaded by its first call, because a file calls few of all functions. */
  const findHandler = (key: RouteKey): Promise<Handler> => {
    const handler = handlers.get(key) ?? importHandler(routes[key].name);
    handlers.set(key, handler);
    return handler;
  };
  const { ports, tables: used } = await import('../../../functions/api/route-handler.ts');
  const steps: Step[] = [];
  // The client puts its own steps together once: these are looked up at each call.
  used.service.client.middlewareStack.add(
    (next, context) => (call) =>
      steps.reduceRight<Next>((inner, step) => step(inner, context), next as unknown as Next)(call as never),
    { step: 'initialize', priority: 'high', name: 'stepsOfTests' },
  );
  const called = new Set<RouteKey>();
  const request = (credential: string) => async (key: RouteKey, call: Call) =>
    (await findHandler(key))(buildRequest(routes[key], credential, call), INVOCATION);

  return {
    /** Routes that were called successfully. */
    called,
    /** The units that the last call consumed. */
    consumed: () => ports.capacity.consumed(),
    /** The functions' client. What a test adds to it, the first outermost, is gone at the end of the test. */
    client: {
      middlewareStack: {
        add(step: Step) {
          steps.push(step);
          onTestFinished(() => void steps.splice(steps.indexOf(step), 1));
        },
      },
    } as unknown as DynamoDBClient,
    /** A session of an admin of an organization. */
    session: (orgId: string) => issuer.token(orgId),

    /**
     * A client with a key or a session.
     * @returns the answer's data; throws when it is no success
     */
    caller:
      (credential: string) =>
      async (key: RouteKey, call: Call = {}): Promise<Data> => {
        const answer = await request(credential)(key, call);
        if (answer.statusCode >= 300) throw new Error(`${key} answered ${answer.statusCode}: ${answer.body}`);
        called.add(key);
        return answer.body === '' ? {} : JSON.parse(answer.body).data;
      },

    /** The same, with the status, the headers and the whole body of any answer. */
    asker:
      (credential: string) =>
      async (key: RouteKey, call: Call = {}): Promise<{ status: number; headers: Data } & Data> => {
        const { statusCode, headers, body } = await request(credential)(key, call);
        return { status: statusCode, headers, ...JSON.parse(body) };
      },

    close() {
      issuer.close();
      secrets.restore();
      vi.unstubAllEnvs();
    },
  };
}
export type Api = Awaited<ReturnType<typeof anApi>>;
export type Caller = ReturnType<Api['caller']>;

const buildRequest = (
  { method, path, idempotency }: Route,
  credential: string,
  { params, query, body, idempotencyKey = crypto.randomUUID() }: Call,
): APIGatewayProxyEvent =>
  aGatewayEvent({
    httpMethod: method,
    path: `/api${path}`,
    resource: path,
    headers: {
      authorization: `Bearer ${credential}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(idempotency === undefined ? {} : { 'idempotency-key': idempotencyKey }),
    },
    pathParameters: params ?? null,
    queryStringParameters: query ?? null,
    body: body === undefined ? null : JSON.stringify(body),
  });

/** A live organization with a rate limit that no test reaches. */
export const aBusyOrganization = () => anOrganization({ tier: 'scale' });
