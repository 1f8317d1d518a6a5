import { setTimeout as sleep } from 'node:timers/promises';
import { BatchGetCommand } from '@aws-sdk/lib-dynamodb';
import type { Table } from './table.ts';

/** DynamoDB gives at most so many items by their keys in one request. */
export const BATCH = 100;
/** How often DynamoDB may leave out some of the keys that it is asked for. */
const MAX_LEFT_OUT = 5;

/** DynamoDB kept leaving out keys, as it does when it throttles. Named as the SDK names that, which callers know for transient. */
class ReadThrottled extends Error {
  override name = 'ThrottlingException';
}

/**
 * The items under these keys, in no particular order, without those that are not there.
 * @param wanted each once
 * @throws ReadThrottled when DynamoDB does not give all of it
 */
export async function itemsAt(
  table: Table,
  wanted: readonly { readonly pk: string; readonly sk?: string }[],
  { consistent = false } = {},
): Promise<Record<string, unknown>[]> {
  const found: Record<string, unknown>[] = [];
  let left: Record<string, unknown>[] = wanted.map((key) => ({ ...key }));
  for (let leftOut = 0; left.length > 0; ) {
    const { Responses = {}, UnprocessedKeys = {} } = await table.client.send(
      new BatchGetCommand({
        RequestItems: {
          [table.name]: { Keys: left.slice(0, BATCH), ...(consistent && { ConsistentRead: true }) },
        },
      }),
    );
    found.push(...(Responses[table.name] ?? []));
    const unprocessed = UnprocessedKeys[table.name]?.Keys ?? [];
    left = [...unprocessed, ...left.slice(BATCH)];
    if (unprocessed.length === 0) continue;
    leftOut += 1;
    if (leftOut === MAX_LEFT_OUT) throw new ReadThrottled(`${table.name} could not be read in full`);
    await sleep(Math.random() * 25 * 2 ** leftOut);
  }
  return found;
}
