import { randomBytes, randomUUID } from 'node:crypto';
import {
  GetSecretValueCommand,
  InvalidParameterException,
  InvalidRequestException,
  PutSecretValueCommand,
  type SecretsManagerClient,
  UpdateSecretVersionStageCommand,
} from '@aws-sdk/client-secrets-manager';
import { Keyring } from '../../functions/aws/keyrings.ts';
import { OperateError } from './errors.ts';
import type { KeyringState } from './key-rotation.ts';

/** Label of a version that is not current yet. */
const COMING = 'KEYRING_COMING';
const CURRENT = 'AWSCURRENT';

export interface StoredKeyring extends KeyringState {
  /** Version of the secret, not of a key. */
  versionId: string;
}

/** A new master key: 384 random bits as base64url. */
export const newKey = (): string => randomBytes(48).toString('base64url');

/** The secret of a keyring. Errors contain no key. */
export function keyringSecret(client: SecretsManagerClient, SecretId: string) {
  return {
    async read(): Promise<StoredKeyring> {
      const {
        SecretString = 'null',
        VersionId = '',
        CreatedDate,
      } = await client.send(new GetSecretValueCommand({ SecretId, VersionStage: CURRENT }));
      const ring = Keyring.safeParse(parseJson(SecretString));
      if (!ring.success || CreatedDate === undefined)
        throw new OperateError(`The secret ${SecretId} holds no keyring.`);
      return { ring: ring.data, changedAt: CreatedDate, versionId: VersionId };
    },

    /**
     * Replaces the keyring that was read: moves the label of the current version from the version that was
     * read, which fails after another change. An interrupted replacement leaves an unused version.
     * @throws OperateError when it changed meanwhile
     */
    async replace(read: StoredKeyring, ring: Keyring): Promise<void> {
      const versionId = randomUUID();
      await client.send(
        new PutSecretValueCommand({
          SecretId,
          SecretString: JSON.stringify(Keyring.parse(ring)),
          ClientRequestToken: versionId,
          VersionStages: [COMING],
        }),
      );
      try {
        await client.send(
          new UpdateSecretVersionStageCommand({
            SecretId,
            VersionStage: CURRENT,
            MoveToVersionId: versionId,
            RemoveFromVersionId: read.versionId,
          }),
        );
      } catch (error) {
        if (error instanceof InvalidParameterException || error instanceof InvalidRequestException)
          throw new OperateError('The keyring was changed meanwhile: check it, and try again.');
        throw error;
      }
    },
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
