import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBStreamsClient } from '@aws-sdk/client-dynamodb-streams';
import { SESv2Client } from '@aws-sdk/client-sesv2';
import { SQSClient } from '@aws-sdk/client-sqs';
import { fromEnv } from '@aws-sdk/credential-provider-env';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { functionRegion } from './config.ts';
import { requestHandler } from './request-handler.ts';
import { requestSigner } from './signer.ts';
import { countThrottles } from './throttles.ts';

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

/**
 * Options of the clients of every message, by the service that signatures name. They take a third less
 * processor time for a request (docs/decisions/0030-processor-time.md).
 */
export const leanClientOptions = (
  service: 'dynamodb' | 'sqs' | 'events',
  { credentials = fromEnv(), region = functionRegion, requestMs = 3_000 } = {},
) => {
  return {
    maxAttempts: 3,
    requestHandler: requestHandler({ connectMs: CONNECTION_TIMEOUT_MS, requestMs }),
    signer: requestSigner({ service, region, credentials }),
    credentials,
    // The SDK puts the steps of a request together once for each kind of command.
    cacheMiddleware: true,
  };
};

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
