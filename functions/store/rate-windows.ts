import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { RateBucket } from '../domain/rate-limit.ts';
import { keys } from './keys.ts';
import type { Table } from './table.ts';

/** How long a window's item is kept after it began. Nothing reads it later; DynamoDB deletes it within days. */
const KEPT_SECONDS = 3600;

/** Counts of the requests in a window. They have a table of their own, whose loss or throttling touches nothing else. */
export function rateWindowStore(table: Table) {
  return {
    /**
     * Counts a request, in one conditional write, which makes it exact however many count at once.
     * @param start of the window, seconds since the epoch
     * @param timeoutMs after which the count is given up
     * @returns how many the window has now, or `full` when it has `limit` already: then nothing is counted
     */
    async take(
      bucket: RateBucket,
      start: number,
      limit: number,
      timeoutMs: number,
    ): Promise<{ used: number } | 'full'> {
      try {
        const { Attributes } = await table.client.send(
          new UpdateCommand({
            TableName: table.name,
            Key: keys.rateWindow(bucket, start),
            UpdateExpression: 'ADD used :one SET expiresAt = :expiry',
            ConditionExpression: 'attribute_not_exists(used) OR used < :limit',
            ExpressionAttributeValues: { ':one': 1, ':limit': limit, ':expiry': start + KEPT_SECONDS },
            ReturnValues: 'UPDATED_NEW',
          }),
          { abortSignal: AbortSignal.timeout(timeoutMs) },
        );
        return { used: Number(Attributes?.used) };
      } catch (error) {
        if (error instanceof ConditionalCheckFailedException) return 'full';
        throw error;
      }
    },
  };
}
