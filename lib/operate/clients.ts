import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SQSClient } from '@aws-sdk/client-sqs';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { clientOptions } from '../../functions/aws/clients.ts';
import type { Place } from './place.ts';

/** AWS clients, with the environment's credentials. */
export interface Clients extends Disposable {
  dynamodb: DynamoDBDocumentClient;
  sqs: SQSClient;
  secretsManager: SecretsManagerClient;
}

/** A local run's engines require credentials but do not check them. */
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
