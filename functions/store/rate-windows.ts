import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { UpdateCommand, type UpdateCommandInput } from '@aws-sdk/lib-dynamodb';
import type { RateBucket } from '../domain/rate-limit.ts';
import { keys } from './keys.ts';
import type { Table } from './table.ts';

/** From the window's start. Nothing reads the item later; DynamoDB deletes it within days. */
const KEPT_SECONDS = 3600;

/** Tokens used per window. A separate table isolates other data from its throttling or loss. */
export function rateWindowStore(table: Table) {
  const add = async (
    bucket: RateBucket,
    start: number,
    tokens: number,
    timeoutMs: number,
    condition: Pick<UpdateCommandInput, 'ConditionExpression'> & { values?: Record<string, number> } = {},
  ): Promise<{ used: number }> => {
    const { values, ...rest } = condition;
    const { Attributes } = await table.client.send(
      new UpdateCommand({
        TableName: table.name,
        Key: keys.rateWindow(bucket, start),
        UpdateExpression: 'ADD used :tokens SET expiresAt = :expiry',
        ExpressionAttributeValues: { ':tokens': tokens, ':expiry': start + KEPT_SECONDS, ...values },
        ReturnValues: 'UPDATED_NEW',
        ...rest,
      }),
      { abortSignal: AbortSignal.timeout(timeoutMs) },
    );
    return { used: Number(Attributes?.used) };
  };

  return {
    /**
     * Takes a request's tokens in one conditional write, exact under concurrency. The last request may take
     * more than is left.
     * @param start of the window, seconds since the epoch
     * @param timeoutMs after which the write is abandoned
     * @returns used tokens; `full`, and nothing is taken, when `limit` tokens were used
     */
    async take(
      bucket: RateBucket,
      start: number,
      { tokens, limit, timeoutMs }: { tokens: number; limit: number; timeoutMs: number },
    ): Promise<{ used: number } | 'full'> {
      try {
        return await add(bucket, start, tokens, timeoutMs, {
          ConditionExpression: 'attribute_not_exists(used) OR used < :limit',
          values: { ':limit': limit },
        });
      } catch (error) {
        if (error instanceof ConditionalCheckFailedException) return 'full';
        throw error;
      }
    },

    /**
     * Adds tokens, or returns some, regardless of the limit.
     * @returns used tokens
     */
    add(
      bucket: RateBucket,
      start: number,
      { tokens, timeoutMs }: { tokens: number; timeoutMs: number },
    ): Promise<{ used: number }> {
      return add(bucket, start, tokens, timeoutMs);
    },
  };
}
