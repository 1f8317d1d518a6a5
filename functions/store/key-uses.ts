import { setTimeout as sleep } from 'node:timers/promises';
import { BatchGetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod/mini';
import type { ApiKey } from '../domain/api-key.ts';
import { KeyId, type OrgId } from '../domain/ids.ts';
import { keys } from './keys.ts';
import { expiry, type Table } from './table.ts';

/** A key that was not used for so long is shown as one that never was. */
const KEPT_DAYS = 365;
/** How often DynamoDB may leave out some of the keys that it is asked for. */
const MAX_LEFT_OUT = 5;

export const KeyUse = z.object({ keyId: KeyId, lastUsedAt: z.iso.datetime() });
export type KeyUse = z.infer<typeof KeyUse>;

/** DynamoDB kept leaving out keys, as it does when it throttles. Named as the SDK names that, which callers know for transient. */
class ReadThrottled extends Error {
  override name = 'ThrottlingException';
}

/** When API keys were last used. Beside the rate windows, so that a function which only reads changes nothing of the service's data. */
export function keyUseStore(rates: Table) {
  return {
    /** @param timeoutMs after which it is given up */
    async note({ id, orgId }: Pick<ApiKey, 'id' | 'orgId'>, now: Date, timeoutMs: number): Promise<void> {
      await rates.client.send(
        new UpdateCommand({
          TableName: rates.name,
          Key: keys.keyUse(orgId, id),
          UpdateExpression: 'SET keyId = :id, lastUsedAt = :now, expiresAt = :expiry',
          ExpressionAttributeValues: {
            ':id': id,
            ':now': now.toISOString(),
            ':expiry': expiry(now, KEPT_DAYS),
          },
        }),
        { abortSignal: AbortSignal.timeout(timeoutMs) },
      );
    },

    /**
     * When each of these keys of an organization was last used; those that were not are left out.
     * @param ids 100 at most
     * @throws ReadThrottled when DynamoDB does not give all of it
     */
    async read(orgId: OrgId, ids: readonly ApiKey['id'][]): Promise<Map<ApiKey['id'], string>> {
      const found = new Map<ApiKey['id'], string>();
      let left: Record<string, unknown>[] = ids.map((id) => keys.keyUse(orgId, id));
      for (let tried = 0; left.length > 0; tried += 1) {
        if (tried === MAX_LEFT_OUT) throw new ReadThrottled('the uses of keys could not be read in full');
        if (tried > 0) await sleep(Math.random() * 25 * 2 ** tried);
        const { Responses = {}, UnprocessedKeys = {} } = await rates.client.send(
          new BatchGetCommand({ RequestItems: { [rates.name]: { Keys: left } } }),
        );
        for (const row of Responses[rates.name] ?? []) {
          const { keyId, lastUsedAt } = KeyUse.parse(row);
          found.set(keyId, lastUsedAt);
        }
        left = UnprocessedKeys[rates.name]?.Keys ?? [];
      }
      return found;
    },
  };
}
