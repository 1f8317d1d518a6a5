import { CognitoIdentityProviderClient } from '@aws-sdk/client-cognito-identity-provider';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBStreamsClient } from '@aws-sdk/client-dynamodb-streams';
import { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SESv2Client } from '@aws-sdk/client-sesv2';
import { SQSClient } from '@aws-sdk/client-sqs';
import { onTestFinished } from 'vitest';

const local = { region: 'us-east-1', credentials: { accessKeyId: 'local', secretAccessKey: 'local' } };

export const dynamoDbClient = (endpoint: string) => untilFinished(new DynamoDBClient({ ...local, endpoint }));
export const streamsClient = (endpoint: string) =>
  untilFinished(new DynamoDBStreamsClient({ ...local, endpoint }));
export const sqsClient = (endpoint: string) => untilFinished(new SQSClient({ ...local, endpoint }));
export const secretsClient = (endpoint: string) =>
  untilFinished(new SecretsManagerClient({ ...local, endpoint }));
export const eventBridgeClient = (endpoint: string) =>
  untilFinished(new EventBridgeClient({ ...local, endpoint }));
export const sesClient = (endpoint: string) => untilFinished(new SESv2Client({ ...local, endpoint }));
export const cognitoClient = (endpoint: string) =>
  untilFinished(new CognitoIdentityProviderClient({ ...local, endpoint }));

function untilFinished<T extends { destroy(): void }>(client: T): T {
  onTestFinished(() => client.destroy());
  return client;
}
