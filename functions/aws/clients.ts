import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { DynamoDBStreamsClient } from '@aws-sdk/client-dynamodb-streams';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { SESv2Client } from '@aws-sdk/client-sesv2';
import { SQSClient } from '@aws-sdk/client-sqs';
import { fromEnv } from '@aws-sdk/credential-provider-env';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { functionRegion } from './config.ts';
import { logger } from './logger.ts';
import { count, countThrottle, type Dependency, UNREADABLE_ROWS } from './metrics.ts';
import { requestHandler, requestSigner } from './sdk-parts.ts';
import type { Table, UnreadableRow } from './table.ts';

const CONNECTION_TIMEOUT_MS = 1_000;

/**
 * Options of every SDK client. Each client is created once per execution environment. Timeouts are explicit
 * because the SDK has none: a call that hangs would hold a function until its own timeout.
 */
export const clientOptions = () => ({
  maxAttempts: 3,
  requestHandler: new NodeHttpHandler({
    connectionTimeout: CONNECTION_TIMEOUT_MS,
    requestTimeout: 3_000,
    throwOnRequestTimeout: true,
    httpAgent: { keepAlive: true, maxSockets: 64 },
    httpsAgent: { keepAlive: true, maxSockets: 64 },
  }),
});

/** The SDK copies requests and responses for a logger with `info` and `error`, such as its own silent one. */
const NO_LOGGER = { warn: () => undefined } as unknown as NonNullable<DynamoDBClientConfig['logger']>;

/**
 * Options of the clients that most functions have, by the service that signatures name. They take a third
 * less processor time for a request (docs/decisions/0030-processor-time.md).
 */
export const leanClientOptions = (
  service: 'dynamodb' | 'sqs' | 'events' | 'lambda' | 'secretsmanager',
  { credentials = fromEnv(), region = functionRegion, requestMs = 3_000 } = {},
) => ({
  maxAttempts: 3,
  requestHandler: requestHandler({ connectMs: CONNECTION_TIMEOUT_MS, requestMs }),
  signer: requestSigner({ service, region, credentials }),
  credentials,
  // The SDK puts the steps of a request together once for each kind of command.
  cacheMiddleware: true,
  logger: NO_LOGGER,
});

export const tableClient = (): DynamoDBClient =>
  countThrottles(new DynamoDBClient(leanClientOptions('dynamodb')), 'dynamodb');

export const streamsClient = (): DynamoDBStreamsClient =>
  countThrottles(new DynamoDBStreamsClient(clientOptions()), 'streams');

export const queueClient = (): SQSClient => countThrottles(new SQSClient(leanClientOptions('sqs')), 'sqs');

/**
 * Sends each request once, on a new connection: a request that may have reached SES must not be repeated, and
 * a connection that SES closed while the function was frozen would look like one. SES gets more time, because
 * without a response the outcome of the e-mail is unknown.
 */
export const mailClient = (): SESv2Client =>
  countThrottles(
    new SESv2Client({
      ...clientOptions(),
      maxAttempts: 1,
      requestHandler: new NodeHttpHandler({
        connectionTimeout: CONNECTION_TIMEOUT_MS,
        requestTimeout: 8_000,
        throwOnRequestTimeout: true,
        httpAgent: { keepAlive: false },
        httpsAgent: { keepAlive: false },
      }),
    }),
    'ses',
  );

/** @param requestMs longer than the invoked function's timeout: each request is sent once */
export const lambdaClient = (requestMs: number): LambdaClient =>
  countThrottles(
    new LambdaClient({ ...leanClientOptions('lambda', { requestMs }), maxAttempts: 1 }),
    'lambda',
  );

const THROTTLING = new Set([
  'LimitExceededException',
  'ProvisionedThroughputExceeded',
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'RequestThrottled',
  'RequestThrottledException',
  'SlowDown',
  'ThrottledException',
  'Throttling',
  'ThrottlingError',
  'ThrottlingException',
  'TooManyRequestsException',
]);

type Fields = Readonly<Record<string, unknown>>;
const toFields = (value: unknown): Fields => Object(value);
const toList = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const isThrottling = (name: unknown): boolean => THROTTLING.has(String(name));

/** A transaction names throttling in the reason of one of its items. */
export function isThrottled(error: unknown): boolean {
  const { name, $metadata, $retryable, CancellationReasons } = toFields(error);
  return (
    isThrottling(name) ||
    toFields($metadata).httpStatusCode === 429 ||
    toFields($retryable).throttling === true ||
    toList(CancellationReasons).some((reason) => isThrottling(toFields(reason).Code))
  );
}

/** Whether a part of a successful batch was throttled. */
export function isThrottledInPart(output: unknown): boolean {
  const { UnprocessedKeys, UnprocessedItems, Failed, Entries } = toFields(output);
  return (
    Object.keys(toFields(UnprocessedKeys)).length > 0 ||
    Object.keys(toFields(UnprocessedItems)).length > 0 ||
    toList(Failed).some((failed) => isThrottling(toFields(failed).Code)) ||
    toList(Entries).some((entry) => isThrottling(toFields(entry).ErrorCode))
  );
}

interface ThrottledClient {
  middlewareStack: {
    add(
      step: <A, O extends { output: unknown }>(next: (args: A) => Promise<O>) => (args: A) => Promise<O>,
      options: { step: 'finalizeRequest'; name: string; priority: 'low' },
    ): void;
  };
}

/**
 * Counts each throttled try, including those that the SDK repeats.
 * @returns the client
 */
export function countThrottles<C extends ThrottledClient>(client: C, dependency: Dependency): C {
  client.middlewareStack.add(
    (next) => async (args) => {
      try {
        const result = await next(args);
        if (isThrottledInPart(result.output)) countThrottle(dependency);
        return result;
      } catch (error) {
        if (isThrottled(error)) countThrottle(dependency);
        throw error;
      }
    },
    // Within the SDK's retry step.
    { step: 'finalizeRequest', name: 'countThrottles', priority: 'low' },
  );
  return client;
}

/** The variable of the environment that names each table. */
interface Variables {
  service: 'SERVICE_TABLE';
  outbox: 'OUTBOX_TABLE';
  deliveries: 'DELIVERIES_TABLE';
  rates: 'RATE_TABLE';
  ledger: 'LEDGER_TABLE';
  usage: 'USAGE_TABLE';
  knowledge: 'KNOWLEDGE_TABLE';
  mailings: 'MAILINGS_TABLE';
}
type Environment = { readonly [V in Variables[keyof Variables]]?: string };
type OpenTable = Required<Table> & { readonly client: DynamoDBClient };
type Opened<E> = { readonly [T in keyof Variables as Variables[T] extends keyof E ? T : never]: OpenTable };

/**
 * The tables that the environment names, with one client. Roles are derived from this form: each table has a
 * variable of its own (lib/infra/grants).
 */
export function openTables<E extends Environment>(environment: E, client = tableClient()): Opened<E> {
  // Written out, because the roles are derived from this code (lib/infra/grants).
  const open = (name: string | undefined) =>
    name === undefined ? undefined : { client, name, reportUnreadable };
  const tables: Record<keyof Variables, OpenTable | undefined> = {
    service: open(environment.SERVICE_TABLE),
    outbox: open(environment.OUTBOX_TABLE),
    deliveries: open(environment.DELIVERIES_TABLE),
    rates: open(environment.RATE_TABLE),
    ledger: open(environment.LEDGER_TABLE),
    usage: open(environment.USAGE_TABLE),
    knowledge: open(environment.KNOWLEDGE_TABLE),
    mailings: open(environment.MAILINGS_TABLE),
  };
  return tables as Opened<E>;
}

/** Reports an unreadable row that was left out. */
export function reportUnreadable({ pk, sk, error }: UnreadableRow): void {
  logger.log('ROW_UNREADABLE', { pk, sk, error });
  count(UNREADABLE_ROWS);
}
