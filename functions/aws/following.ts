import { expression } from './expression.ts';
import { buildIdBound } from './ids.ts';
import type { Page, PageRequest } from './pages.ts';
import { query, readRows, type Table } from './table.ts';

/** Timeout of the functions of routes. The gateway's is 29 s. */
export const API_TIMEOUT_SECONDS = 10;

/**
 * Age from which a row is committed or lost for good: its id has the time at which its request began. The
 * margin covers differences of clocks, and a write that DynamoDB applies after its function ended.
 */
export const COMMIT_WINDOW_SECONDS = API_TIMEOUT_SECONDS + 5;

/** Rows of the commit window that a position names at most, so that a cursor fits into a URL. */
const MOST_NAMED = 50;

/**
 * A row's id has the time at which its request began, so a row may be committed after others with later ids.
 * A position therefore stays behind the commit window, and names the rows after it that were read.
 */
interface Position {
  /** All rows up to this id were read. */
  after: string;
  /** Ids of rows after it that were read as well. */
  named: ReadonlySet<string>;
}

const SEPARATOR = ' ';

/** The position before all rows. */
export const getStart = (prefix: 'msg'): string => prefix;

function parsePosition(text: string | undefined, prefix: 'msg'): Position {
  const [after = '', ...named] = (text ?? getStart(prefix)).split(SEPARATOR);
  return { after, named: new Set(named.map((body) => `${prefix}_${body}`)) };
}

const formatPosition = ({ after, named }: Position, prefix: string): string =>
  [after, ...[...named].map((id) => id.slice(prefix.length + 1))].join(SEPARATOR);

/**
 * Reads rows of a partition by ascending id, as soon as they are committed, consistently, and each of them
 * once. A row whose commit was overtaken comes after those that overtook it. Of more than `MOST_NAMED` rows,
 * or 1 MB, within the commit window, the last ones come when it has passed.
 * @param parse throws when a row is invalid
 */
export async function followPartition<T extends { id: string }>(
  table: Table,
  { pk, prefix }: { pk: string; prefix: 'msg' },
  parse: (row: unknown) => T,
  { after: text, limit }: PageRequest,
  now: Date,
): Promise<Page<T>> {
  const start = parsePosition(text, prefix);
  const { rows, next } = await query(table, {
    where: expression`pk = ${pk} AND sk > ${start.after}`,
    limit: limit + start.named.size,
  });
  const settled = buildIdBound(prefix, new Date(now.getTime() - COMMIT_WINDOW_SECONDS * 1000));
  const named = new Set([...start.named].filter((id) => id >= settled));
  const items: T[] = [];
  /** Where the rows that were examined end. */
  let end: string | undefined = next?.sk as string | undefined;
  for (const row of readRows(table, rows, parse)) {
    const isRead = start.named.has(row.id);
    if (!isRead && items.length === limit) {
      end = items.at(-1)?.id;
      break;
    }
    if (!isRead && row.id >= settled && named.size === MOST_NAMED) {
      end = undefined;
      break;
    }
    if (!isRead) items.push(row);
    if (row.id >= settled) named.add(row.id);
  }
  const after = getLater(start.after, end !== undefined && end < settled ? end : settled);
  const unpassed = [...start.named, ...named].filter((id) => id > after);
  const follow = formatPosition({ after, named: new Set(unpassed) }, prefix);
  const hasMore = end !== undefined && (items.length > 0 || end < settled);
  return { items, follow, ...(hasMore ? { next: follow } : {}) };
}

const getLater = (one: string, other: string): string => (one > other ? one : other);
