import { within } from '../aws/concurrency.ts';
import { type Expression, expression } from '../aws/expression.ts';
import { type Table, update } from '../aws/table.ts';
import { keys, type RateBucket } from '../tenancy/keys.ts';

/** From the window's start. Nothing reads the item later; DynamoDB deletes it within days. */
const KEPT_SECONDS = 3600;

/** Tokens used per window. A separate table isolates other data from its throttling or loss. */
export function rateWindowStore(table: Table) {
  async function add(
    bucket: RateBucket,
    start: number,
    { tokens, timeoutMs }: { tokens: number; timeoutMs: number },
    condition?: Expression,
  ): Promise<{ used: number } | 'full'> {
    const written = update(table, keys.rateWindow(bucket, start), {
      update: expression`SET expiresAt = ${start + KEPT_SECONDS} ADD used ${tokens}`,
      if: condition,
      returns: 'new',
    });
    const { kind, row } = await within(timeoutMs, written);
    return kind === 'refused' ? 'full' : { used: Number(row?.used) };
  }

  return {
    /**
     * Takes a request's tokens in one conditional write, exact under concurrency. The last request may take
     * more than is left.
     * @param start of the window, seconds since the epoch
     * @param timeoutMs after which the write is abandoned
     * @returns used tokens; `full`, and nothing is taken, when `limit` tokens were used
     */
    take(
      bucket: RateBucket,
      start: number,
      { limit, ...terms }: { tokens: number; limit: number; timeoutMs: number },
    ): Promise<{ used: number } | 'full'> {
      return add(bucket, start, terms, expression`attribute_not_exists(used) OR used < ${limit}`);
    },

    /**
     * Adds tokens, or returns some, regardless of the limit.
     * @returns used tokens
     */
    async add(
      bucket: RateBucket,
      start: number,
      terms: { tokens: number; timeoutMs: number },
    ): Promise<{ used: number }> {
      const added = await add(bucket, start, terms);
      return added === 'full' ? { used: 0 } : added;
    },
  };
}
