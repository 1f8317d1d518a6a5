import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SQSClient } from '@aws-sdk/client-sqs';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { clientOptions } from '../../functions/platform/clients/clients.ts';
import type { Place } from './place.ts';

/** Clients of what the tool works with; on AWS with the credentials of the environment. */
export interface Clients extends Disposable {
  dynamodb: DynamoDBDocumentClient;
  sqs: SQSClient;
  secretsManager: SecretsManagerClient;
}

/** The engines of a local run want to see some, and check none. */
export const LOCAL_CREDENTIALS = { accessKeyId: 'local', secretAccessKey: 'local' };

export function clientsOf({ region, endpoints }: Place): Clients {
  const at = (endpoint: string | undefined) => ({
    ...clientOptions(),
    region,
    ...(endpoint === undefined ? {} : { endpoint, credentials: LOCAL_CREDENTIALS }),
  });
  const plain = new DynamoDBClient(at(endpoints?.dynamodb));
  const clients = {
    dynamodb: DynamoDBDocumentClient.from(plain, { marshallOptions: { removeUndefinedValues: true } }),
    sqs: new SQSClient(at(endpoints?.sqs)),
    secretsManager: new SecretsManagerClient(at(endpoints?.secretsManager)),
  };
  return {
    ...clients,
    [Symbol.dispose]() {
      for (const client of [plain, clients.sqs, clients.secretsManager]) client.destroy();
    },
  };
}
