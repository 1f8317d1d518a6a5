import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { terms } from './terms.ts';

export const secretsClient = (): SecretsManagerClient => new SecretsManagerClient(terms());
