import { isDeepStrictEqual } from 'node:util';
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { BatchGetCommand, PutCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { count, facts } from 'terminal/grid.ts';
import * as z from 'zod';
import { mapConcurrently } from '../../functions/aws/concurrency.ts';
import { type Context, confirmed, type Report, tableOf } from './context.ts';
import { OperateError } from './errors.ts';

/** Rows per page: DynamoDB's limit on a batch read. */
const PAGE = 100;
/** Attempts for the unprocessed part of a batch. */
const MAX_TRIES = 10;
/** Leaves a live table capacity for its own work. */
const PUTS_AT_ONCE = 8;
/** Selects every row, in place of a prefix. */
const ALL = 'all';

const Row = z.looseObject({ pk: z.string(), sk: z.string().optional() });
type Row = z.infer<typeof Row>;

interface Copied {
  /** Absent from the live table; added unless this is a dry run. */
  missing: number;
  /** Different in the live table; replaced with `--overwrite` only. */
  different: number;
  same: number;
  /** Of sandboxes, or expired: never restored. */
  left: number;
}

/**
 * `table copy`: copies rows of a restored table to the live one. By default it only adds missing rows, so
 * that it can be repeated and stopped at any time.
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
    const kept = rows.filter((row) => isRestored(row, now()));
    copied.left += rows.length - kept.length;
    const present = await presentRows(context, live.name, kept);
    await mapConcurrently(kept, PUTS_AT_ONCE, async (row) => {
      const there = present.get(describeKey(row));
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
 * Excludes sandbox rows, because a reset deletes for good and is not recorded here, and expired rows, which
 * were deleted on purpose.
 */
const isRestored = ({ ofSandbox, expiresAt }: Row, now: Date): boolean =>
  ofSandbox === undefined && !(typeof expiresAt === 'number' && expiresAt <= now.getTime() / 1000);

const pickKey = ({ pk, sk }: Row) => ({ pk, ...(sk === undefined ? {} : { sk }) });
const describeKey = (row: Row): string => JSON.stringify(pickKey(row));

async function presentRows(
  { clients }: Context,
  table: string,
  rows: readonly Row[],
): Promise<Map<string, Row>> {
  const rowsByKey = new Map<string, Row>();
  let keys: Record<string, unknown>[] = rows.map(pickKey);
  for (let attempt = 1; keys.length > 0; attempt++) {
    if (attempt > MAX_TRIES) throw new OperateError(`${table} is too busy: try again later.`);
    const { Responses = {}, UnprocessedKeys = {} } = await clients.dynamodb.send(
      new BatchGetCommand({ RequestItems: { [table]: { Keys: keys, ConsistentRead: true } } }),
    );
    for (const item of Responses[table] ?? []) {
      const row = Row.parse(item);
      rowsByKey.set(describeKey(row), row);
    }
    keys = UnprocessedKeys[table]?.Keys ?? [];
  }
  return rowsByKey;
}

/** Rows written meanwhile are newer than the restored ones. */
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
