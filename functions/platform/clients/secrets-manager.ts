import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import type { SecretValue } from '../keyrings.ts';
import { prepared } from './prepared.ts';
import { terms } from './terms.ts';

/** Made when a secret is first read: a client takes 2 ms to make, and a list whose first page is all needs none. */
let client: SecretsManagerClient | undefined;

/** Reads a secret that is text. @param id its name or ARN */
export const secretValue =
  (id: string): SecretValue =>
  async () => {
    client ??= prepared(new SecretsManagerClient(terms()), 'secretsmanager');
    const { SecretString } = await client.send(new GetSecretValueCommand({ SecretId: id }));
    return SecretString;
  };
