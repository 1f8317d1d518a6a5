import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { readRows, type Table } from './table.ts';

/** One page of a listing, newest first. `next` is the identifier to go on after, absent on the last page. */
export interface Page<T> {
  items: T[];
  next?: string;
}

/** Where to begin and how much to give. `after` is the identifier of the last item seen. */
export interface PageRequest {
  limit: number;
  after?: string | undefined;
}

/** What one request read of a partition. */
interface Portion<T> {
  /** At least one, unless the partition ended. */
  items: T[];
  /** Nothing follows. */
  ended: boolean;
  /** Read units that it consumed. */
  units: number;
}

/** Reads up to `limit` items of one partition whose identifiers are below `before`, in descending order. */
export type PartitionReader<T> = (before: string | undefined, limit: number) => Promise<Portion<T>>;

/**
 * Read units after which a page ends early: 2 MB read consistently, which is as much as an answer has room
 * for.
 */
const MOST_UNITS = 512;

/**
 * Merges partitions that are each in descending order of `id` into one page in that order. Identifiers ascend
 * in time, so what is written while somebody pages through comes before the first page and moves nothing.
 * Each partition is read in portions of about its share of the page, and again only when its portion is used
 * up. A page of large rows is short.
 */
export async function newestFirst<T extends { id: string }>(
  partitions: readonly PartitionReader<T>[],
  { limit, after }: PageRequest,
): Promise<Page<T>> {
  const portion = partitions.length === 1 ? limit + 1 : Math.ceil(limit / partitions.length) + 2;
  const heads = await Promise.all(partitions.map((read) => openPartition(read, after, portion)));
  let left = heads.reduce((units, { spent }) => units - spent, MOST_UNITS);
  const items: T[] = [];
  for (;;) {
    const newest = heads.reduce<Partition<T> | undefined>(
      (best, head) =>
        head.items[0] && (!best?.items[0] || head.items[0].id > best.items[0].id) ? head : best,
      undefined,
    );
    const item = newest?.items.shift();
    if (newest === undefined || item === undefined) return { items };
    if (items.length === limit) return { items, next: items.at(-1)?.id ?? item.id };
    items.push(item);
    if (newest.items.length > 0 || newest.ended) continue;
    if (left <= 0) return { items, next: item.id };
    const { spent } = newest;
    await refill(newest, item.id, portion);
    left -= newest.spent - spent;
  }
}

interface Partition<T> {
  read: PartitionReader<T>;
  items: T[];
  ended: boolean;
  /** Read units so far. */
  spent: number;
}

async function openPartition<T extends { id: string }>(
  read: PartitionReader<T>,
  after: string | undefined,
  portion: number,
): Promise<Partition<T>> {
  const partition = { read, items: [], ended: false, spent: 0 };
  await refill(partition, after, portion);
  return partition;
}

async function refill<T>(
  partition: Partition<T>,
  before: string | undefined,
  portion: number,
): Promise<void> {
  const { items, ended, units } = await partition.read(before, portion);
  Object.assign(partition, { items, ended, spent: partition.spent + units });
}

/**
 * Reads a partition whose sort key is the items' identifier, newest first. Consistent, so that a caller who
 * just created something finds it.
 * @param parse gives the entity that a row holds; throws when the row is not one
 */
export function partition<T>(table: Table, pk: string, parse: (row: unknown) => T): PartitionReader<T> {
  return async (before, limit) => {
    let boundary = before;
    let units = 0;
    // A query ends at 1 MB of rows, and may end with none.
    for (;;) {
      const {
        Items = [],
        LastEvaluatedKey,
        ConsumedCapacity,
      } = await table.client.send(
        new QueryCommand({
          TableName: table.name,
          ConsistentRead: true,
          ReturnConsumedCapacity: 'TOTAL',
          ScanIndexForward: false,
          Limit: limit,
          KeyConditionExpression: boundary === undefined ? 'pk = :pk' : 'pk = :pk AND sk < :before',
          ExpressionAttributeValues: {
            ':pk': pk,
            ...(boundary === undefined ? {} : { ':before': boundary }),
          },
        }),
      );
      units += ConsumedCapacity?.CapacityUnits ?? 0;
      boundary = LastEvaluatedKey?.sk;
      const ended = boundary === undefined;
      if (ended || Items.length > 0) return { items: readRows(table, Items, parse), ended, units };
    }
  };
}
