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

/** Reads up to `limit` items of one partition whose identifiers are below `before`, in descending order. */
export type PartitionReader<T> = (before: string | undefined, limit: number) => Promise<T[]>;

/**
 * Merges partitions that are each in descending order of `id` into one page in that order. Identifiers ascend in
 * time, so what is written while somebody pages through comes before the first page and moves nothing.
 * Each partition is read in portions of about its share of the page, and again only when its portion is used up.
 */
export async function newestFirst<T extends { id: string }>(
  partitions: readonly PartitionReader<T>[],
  { limit, after }: PageRequest,
): Promise<Page<T>> {
  const portion = partitions.length === 1 ? limit + 1 : Math.ceil(limit / partitions.length) + 2;
  const heads = await Promise.all(partitions.map((read) => openPartition(read, after, portion)));
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
    if (newest.items.length === 0) await refill(newest, item.id, portion);
  }
}

interface Partition<T> {
  read: PartitionReader<T>;
  items: T[];
  ended: boolean;
}

async function openPartition<T extends { id: string }>(
  read: PartitionReader<T>,
  after: string | undefined,
  portion: number,
): Promise<Partition<T>> {
  const partition = { read, items: [], ended: false };
  await refill(partition, after, portion);
  return partition;
}

async function refill<T>(
  partition: Partition<T>,
  before: string | undefined,
  portion: number,
): Promise<void> {
  if (partition.ended) return;
  partition.items = await partition.read(before, portion);
  partition.ended = partition.items.length < portion;
}
