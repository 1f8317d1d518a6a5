import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod/mini';
import type { ApiKey } from '../domain/api-key.ts';
import { KeyId, type OrgId } from '../domain/ids.ts';
import { keys } from './keys.ts';
import { expiry, itemsAt, readRows, type Table } from './table.ts';

/** A key that was not used for so long is shown as one that never was. */
const KEPT_DAYS = 365;

export const KeyUse = z.object({ keyId: KeyId, lastUsedAt: z.iso.datetime() });
export type KeyUse = z.infer<typeof KeyUse>;

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
     * @throws ReadThrottled when DynamoDB does not give all of it
     */
    async read(orgId: OrgId, ids: readonly ApiKey['id'][]): Promise<Map<ApiKey['id'], string>> {
      const rows = await itemsAt(
        rates,
        ids.map((id) => keys.keyUse(orgId, id)),
      );
      return new Map(
        readRows(rates, rows, (row) => KeyUse.parse(row)).map(({ keyId, lastUsedAt }) => [keyId, lastUsedAt]),
      );
    },
  };
}
