import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import type { SecretValue } from '../keyrings.ts';
import { terms } from './terms.ts';

const client = new SecretsManagerClient(terms());

/** Reads a secret that is text. @param id its name or ARN */
export const secretValue =
  (id: string): SecretValue =>
  async () => {
    const { SecretString } = await client.send(new GetSecretValueCommand({ SecretId: id }));
    return SecretString;
  };
