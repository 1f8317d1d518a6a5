import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBStreamsClient } from '@aws-sdk/client-dynamodb-streams';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SQSClient } from '@aws-sdk/client-sqs';
import { onTestFinished } from 'vitest';

const local = { region: 'us-east-1', credentials: { accessKeyId: 'local', secretAccessKey: 'local' } };

export const dynamoDbClient = (endpoint: string) => untilFinished(new DynamoDBClient({ ...local, endpoint }));
export const streamsClient = (endpoint: string) =>
  untilFinished(new DynamoDBStreamsClient({ ...local, endpoint }));
export const sqsClient = (endpoint: string) => untilFinished(new SQSClient({ ...local, endpoint }));
export const secretsClient = (endpoint: string) =>
  untilFinished(new SecretsManagerClient({ ...local, endpoint }));

function untilFinished<T extends { destroy(): void }>(client: T): T {
  onTestFinished(() => client.destroy());
  return client;
}
