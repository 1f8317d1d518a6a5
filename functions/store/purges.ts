import { setTimeout as sleep } from 'node:timers/promises';
import { BatchWriteCommand, DeleteCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import type { UnreadableRow } from '../domain/due.ts';
import type { OrgId } from '../domain/ids.ts';
import { OF_SANDBOX_INDEX, Purge } from '../domain/sandbox.ts';
import type { Tenant } from '../domain/tenant.ts';
import { buildTenantKey, keys, listShards, PURGE_SHARDS } from './keys.ts';
import { parseReadable, type Table, throwUnreadable, update } from './table.ts';
import { buildAddition, type Change } from './transaction.ts';

/** Orders to delete the rows of earlier sandbox generations. */
export function purgeStore(service: Table) {
  const table = { TableName: service.name };
  const buildKey = ({ orgId, generation }: Tenant) => keys.purge({ orgId, generation });

  async function query(pk: string, report: (row: UnreadableRow) => void, prefix?: OrgId): Promise<Purge[]> {
    const found: Purge[] = [];
    let after: Record<string, unknown> | undefined;
    do {
      const { Items = [], LastEvaluatedKey } = await service.client.send(
        new QueryCommand({
          ...table,
          ConsistentRead: true,
          KeyConditionExpression: prefix === undefined ? 'pk = :pk' : 'pk = :pk AND begins_with(sk, :prefix)',
          ExpressionAttributeValues: { ':pk': pk, ...(prefix === undefined ? {} : { ':prefix': prefix }) },
          ...(after === undefined ? {} : { ExclusiveStartKey: after }),
        }),
      );
      const { entries, unreadable } = parseReadable(Items, (row) => Purge.parse(row));
      found.push(...entries);
      for (const row of unreadable) report(row);
      after = LastEvaluatedKey;
    } while (after !== undefined);
    return found;
  }

  return {
    /** Orders a purge, in the transaction that resets the sandbox. */
    order(purge: Tenant & { requestedAt: string }): Change {
      return buildAddition(service, { ...buildKey(purge), ...purge, deleted: 0 });
    },

    /**
     * Purges that are not complete, oldest first.
     * @param report receives unreadable orders; by default the table's `reportUnreadable`
     */
    async open(
      report: (row: UnreadableRow) => void = service.reportUnreadable ?? throwUnreadable,
    ): Promise<Purge[]> {
      const found = await Promise.all(
        listShards(PURGE_SHARDS).map((shard) => query(keys.purges(shard), report)),
      );
      return found.flat().sort((a, b) => a.requestedAt.localeCompare(b.requestedAt));
    },

    /** Incomplete purges of one sandbox. */
    of(orgId: OrgId): Promise<Purge[]> {
      return query(keys.purgesOf(orgId), throwUnreadable, orgId);
    },

    /**
     * Leases a purge, so that two runs do not process it at the same time.
     * @returns false when another run has it or it is complete
     */
    lease(purge: Purge, until: Date, now: Date): Promise<boolean> {
      return update(service, {
        Key: buildKey(purge),
        UpdateExpression: 'SET leasedUntil = :until',
        ConditionExpression:
          'attribute_exists(pk) AND (attribute_not_exists(leasedUntil) OR leasedUntil <= :now)',
        ExpressionAttributeValues: { ':until': until.toISOString(), ':now': now.toISOString() },
      });
    },

    async release(purge: Purge): Promise<void> {
      await update(service, {
        Key: buildKey(purge),
        UpdateExpression: 'REMOVE leasedUntil',
        ConditionExpression: 'attribute_exists(pk)',
      });
    },

    async progress(purge: Purge, deleted: number): Promise<void> {
      await update(service, {
        Key: buildKey(purge),
        UpdateExpression: 'ADD deleted :deleted',
        // Do not recreate a purge that another run has closed.
        ConditionExpression: 'attribute_exists(pk)',
        ExpressionAttributeValues: { ':deleted': deleted },
      });
    },

    async close(purge: Purge): Promise<void> {
      await service.client.send(new DeleteCommand({ ...table, Key: buildKey(purge) }));
    },
  };
}

/** Maximum items of a batch write. */
const BATCH = 25;
/** Responses with unprocessed items before a deletion fails. */
const MAX_LEFT_OUT = 8;

/** DynamoDB kept returning unprocessed items, as it does under throttling. */
class DeleteThrottled extends Error {
  override name = 'ThrottlingException';
}

/** Rows of a sandbox's generation in one table. */
export function hasRows(table: Table) {
  async function removeBatch(batch: Record<string, unknown>[]): Promise<void> {
    let pending = batch.map((Key) => ({ DeleteRequest: { Key } }));
    for (let leftOut = 0; pending.length > 0; ) {
      const { UnprocessedItems = {} } = await table.client.send(
        new BatchWriteCommand({ RequestItems: { [table.name]: pending } }),
      );
      pending = (UnprocessedItems[table.name] ?? []) as typeof pending;
      if (pending.length === 0) return;
      leftOut += 1;
      if (leftOut === MAX_LEFT_OUT) throw new DeleteThrottled('rows of a sandbox could not be deleted');
      await sleep(Math.random() * 50 * 2 ** leftOut);
    }
  }

  return {
    /** Keys of up to `limit` rows, from the index, which is eventually consistent. */
    async find(tenant: Tenant, limit: number): Promise<Record<string, unknown>[]> {
      const { Items = [] } = await table.client.send(
        new QueryCommand({
          TableName: table.name,
          IndexName: OF_SANDBOX_INDEX,
          KeyConditionExpression: 'ofSandbox = :tenant',
          ExpressionAttributeValues: { ':tenant': buildTenantKey(tenant) },
          Limit: limit,
        }),
      );
      return Items.map(({ ofSandbox: _, ...key }) => key);
    },

    /** @throws DeleteThrottled when DynamoDB does not delete all of them */
    async remove(rows: readonly Record<string, unknown>[]): Promise<void> {
      const batches = Array.from({ length: Math.ceil(rows.length / BATCH) }, (_, batch) =>
        rows.slice(batch * BATCH, (batch + 1) * BATCH),
      );
      await Promise.all(batches.map(removeBatch));
    },
  };
}
