import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SQSClient } from '@aws-sdk/client-sqs';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { NodeHttpHandler } from '@smithy/node-http-handler';

/*
 * SDK clients, made once for each execution environment. Timeouts are explicit, because the SDK has none: a call that hangs
 * would otherwise hold a function until its own timeout, with nothing said.
 */
const client = () => ({
  maxAttempts: 3,
  requestHandler: new NodeHttpHandler({
    connectionTimeout: 1_000,
    requestTimeout: 3_000,
    throwOnRequestTimeout: true,
    httpAgent: { keepAlive: true, maxSockets: 64 },
    httpsAgent: { keepAlive: true, maxSockets: 64 },
  }),
});

export const documentClient = (): DynamoDBDocumentClient =>
  DynamoDBDocumentClient.from(new DynamoDBClient(client()), {
    marshallOptions: { removeUndefinedValues: true },
  });

export const queueClient = (): SQSClient => new SQSClient(client());

export const secretsClient = (): SecretsManagerClient => new SecretsManagerClient(client());
