import { randomBytes, randomUUID } from 'node:crypto';
import {
  GetSecretValueCommand,
  InvalidParameterException,
  InvalidRequestException,
  PutSecretValueCommand,
  type SecretsManagerClient,
  UpdateSecretVersionStageCommand,
} from '@aws-sdk/client-secrets-manager';
import { Keyring, type KeyringState } from '../../functions/domain/keyring.ts';
import { OperateError } from './errors.ts';

/** Of a version that is not current yet. */
const COMING = 'KEYRING_COMING';
const CURRENT = 'AWSCURRENT';

/** A keyring as the secret store has it. */
export interface StoredKeyring extends KeyringState {
  /** Of the secret, not of a key in it. */
  versionId: string;
}

/** A new master key: 384 random bits, as text without signs that would have to be quoted. */
export const newKey = (): string => randomBytes(48).toString('base64url');

/** The secret that holds a keyring. Nothing of its keys is in an error. */
export function keyringSecret(client: SecretsManagerClient, SecretId: string) {
  return {
    async read(): Promise<StoredKeyring> {
      const {
        SecretString = 'null',
        VersionId = '',
        CreatedDate,
      } = await client.send(new GetSecretValueCommand({ SecretId, VersionStage: CURRENT }));
      const ring = Keyring.safeParse(jsonOf(SecretString));
      if (!ring.success || CreatedDate === undefined)
        throw new OperateError(`The secret ${SecretId} holds no keyring.`);
      return { ring: ring.data, changedAt: CreatedDate, versionId: VersionId };
    },

    /**
     * Replaces the keyring that was read, and no other: the label of the current version is moved from the
     * version that was read, which fails after another change. An interrupted replacement leaves a version
     * that nothing reads.
     * @throws OperateError when it was changed meanwhile
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

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
