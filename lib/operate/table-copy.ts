import { isDeepStrictEqual } from 'node:util';
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { BatchGetCommand, PutCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod';
import { mapConcurrently } from '../../functions/engine/concurrency.ts';
import { type Context, confirmed, type Report, tableOf } from './context.ts';
import { OperateError } from './errors.ts';
import { count, facts } from './grid.ts';

/** Rows of a page: DynamoDB gives at most 100 in a batch. */
const PAGE = 100;
/** Tries of what a batch did not give because it was too much at once. */
const MAX_TRIES = 10;
/** Few enough to leave a live table room for its own work. */
const PUTS_AT_ONCE = 8;
/** For which rows the prefix `all` stands. */
const ALL = 'all';

const Row = z.looseObject({ pk: z.string(), sk: z.string().optional() });
type Row = z.infer<typeof Row>;

/** What became of the rows, in numbers. */
interface Copied {
  /** Not in the live table; added unless this was only a look. */
  missing: number;
  /** In both, and not the same; replaced with `--overwrite` alone. */
  different: number;
  same: number;
  /** Of sandboxes, or expired: they never come back. */
  left: number;
}

/**
 * `table copy`: brings rows of a restored table back into the live one. By itself it only adds what is
 * missing, so that it can be repeated, and stopped at any time.
 */
export async function copyRows(
  context: Context,
  [name = '', from = '', prefix = '']: readonly string[],
): Promise<Report> {
  const { clients, flags, now } = context;
  const live = tableOf(context, name);
  if (from === live.name) throw new OperateError('A table is not copied to itself.');
  const { overwrite = false } = flags;
  const isWanted = (row: Row) => prefix === ALL || row.pk.startsWith(prefix);
  const writes = confirmed(
    context,
    `Rows of ${from}${prefix === ALL ? '' : ` whose pk begins with ${prefix}`} would be ${overwrite ? 'put over those' : 'added to those'} of ${live.name}`,
  );
  const copied: Copied = { missing: 0, different: 0, same: 0, left: 0 };
  let after: Record<string, unknown> | undefined;
  do {
    const { Items = [], LastEvaluatedKey } = await clients.dynamodb.send(
      new ScanCommand({
        TableName: from,
        Limit: PAGE,
        ...(after === undefined ? {} : { ExclusiveStartKey: after }),
      }),
    );
    const rows = Items.map((item) => Row.parse(item)).filter(isWanted);
    const kept = rows.filter((row) => comesBack(row, now()));
    copied.left += rows.length - kept.length;
    const present = await presentRows(context, live.name, kept);
    await mapConcurrently(kept, PUTS_AT_ONCE, async (row) => {
      const there = present.get(nameOf(row));
      const kind = there === undefined ? 'missing' : isDeepStrictEqual(there, row) ? 'same' : 'different';
      copied[kind] += 1;
      if (!writes || kind === 'same' || (kind === 'different' && !overwrite)) return;
      await put(context, live.name, row, overwrite);
    });
    context.progress(`${count(copied.missing + copied.different + copied.same)} rows`);
    after = LastEvaluatedKey;
  } while (after !== undefined);
  const text = facts(
    [
      ['missing', `${count(copied.missing)} ${writes ? 'were added' : 'would be added'}`],
      [
        'different',
        `${count(copied.different)} ${overwrite ? (writes ? 'were replaced' : 'would be replaced') : 'stay as they are in the live table (--overwrite)'}`,
      ],
      ['same', count(copied.same)],
      ['left out', `${count(copied.left)} of sandboxes, or expired`],
    ],
    context.paint,
  );
  return { text, data: { table: name, from, prefix, written: writes, ...copied } };
}

/**
 * Rows that a restore brings back. A reset deletes data of sandboxes for good, and which is not recorded
 * here; expired rows were deleted on purpose.
 */
const comesBack = ({ ofSandbox, expiresAt }: Row, now: Date): boolean =>
  ofSandbox === undefined && !(typeof expiresAt === 'number' && expiresAt <= now.getTime() / 1000);

const keyOf = ({ pk, sk }: Row) => ({ pk, ...(sk === undefined ? {} : { sk }) });
const nameOf = (row: Row): string => JSON.stringify(keyOf(row));

async function presentRows(
  { clients }: Context,
  table: string,
  rows: readonly Row[],
): Promise<Map<string, Row>> {
  const found = new Map<string, Row>();
  let keys: Record<string, unknown>[] = rows.map(keyOf);
  for (let attempt = 1; keys.length > 0; attempt++) {
    if (attempt > MAX_TRIES) throw new OperateError(`${table} is too busy: try again later.`);
    const { Responses = {}, UnprocessedKeys = {} } = await clients.dynamodb.send(
      new BatchGetCommand({ RequestItems: { [table]: { Keys: keys, ConsistentRead: true } } }),
    );
    for (const item of Responses[table] ?? []) {
      const row = Row.parse(item);
      found.set(nameOf(row), row);
    }
    keys = UnprocessedKeys[table]?.Keys ?? [];
  }
  return found;
}

/** What came to be meanwhile is newer than what was restored. */
async function put({ clients }: Context, table: string, row: Row, overwrite: boolean): Promise<void> {
  try {
    await clients.dynamodb.send(
      new PutCommand({
        TableName: table,
        Item: row,
        ...(overwrite ? {} : { ConditionExpression: 'attribute_not_exists(pk)' }),
      }),
    );
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
  }
}
