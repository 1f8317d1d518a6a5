import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { ApiKey } from '../domain/api-key.ts';
import { keys } from './keys.ts';
import type { Table } from './table.ts';
import { addition, type Change } from './transaction.ts';

/** API keys, found by the digest of the key. */
export function apiKeyStore(service: Table) {
  return {
    /** Reads consistently, so that a revocation takes effect at the next request. */
    async find(digest: string): Promise<ApiKey | undefined> {
      const { Item } = await service.client.send(
        new GetCommand({ TableName: service.name, Key: keys.apiKey(digest), ConsistentRead: true }),
      );
      return Item && ApiKey.parse(Item);
    },

    add(digest: string, key: ApiKey): Change {
      return addition(service, { ...keys.apiKey(digest), ...key });
    },
  };
}
