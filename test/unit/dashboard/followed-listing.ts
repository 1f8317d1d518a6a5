import { isOver, lookAgainIn } from '../../../dashboard/src/api/pace.ts';
import type { Delivery } from '../../../dashboard/src/api/webhooks.ts';
import type { Page, Part, Source } from '../../../dashboard/src/pages/live/follow.ts';

export const NOW = Date.parse('2026-11-20T09:30:00.000Z');
const PAGE = 100;
/** Rows that are read for one page at most, matching or not. */
const MOST_READ = 1000;

/** What determines order and freshness of a list of deliveries. */
export type Row = Pick<Delivery, 'id' | 'status' | 'attempts' | 'nextRetryAt' | 'lastError' | 'createdAt'>;

/** A delivery, and when it becomes visible: it may be later than its id says. */
export interface Made extends Row {
  eventType: string;
  madeAt: number;
}

let sequence = 0;

/**
 * @param time of its id, in milliseconds since the epoch
 * @param tail orders those of one millisecond; random, as in a job
 */
export function aRow(time: number, given: Partial<Made> & { tail?: string } = {}): Made {
  sequence += 1;
  const { tail = ((sequence * 7919) % 1_000_003).toString(16), ...rest } = given;
  return {
    id: `dlv_${time.toString(16).padStart(12, '0')}${tail.padStart(10, '0')}${sequence.toString(16).padStart(10, '0')}`,
    status: 'succeeded',
    attempts: 1,
    nextRetryAt: null,
    lastError: null,
    createdAt: new Date(time).toISOString(),
    eventType: 'ticket.created',
    madeAt: time,
    ...rest,
  };
}

const newestFirst = <R extends Pick<Row, 'id'>>(rows: readonly R[]): R[] =>
  rows.toSorted((a, b) => (a.id < b.id ? 1 : -1));

/**
 * The service as a list sees it: pages of its deliveries, on a manual clock, with a record of the requests.
 */
export function anEndpoint(isLike: (row: Made) => boolean = () => true, isWhole = true) {
  /** Newest first. */
  let made: Made[] = [];
  const spent = { requests: 0, rows: 0 };
  const there = () => made.filter(({ madeAt }) => madeAt <= endpoint.now);

  function page({ cursor, from = 0, to = Number.POSITIVE_INFINITY }: Part): Page<Made> {
    // A cursor is valid only with its filters, as in the API.
    const [after, binding] = cursor?.split('/') ?? [];
    if (cursor !== undefined && binding !== `${from}-${to}`) throw new Error('no cursor of this listing');
    const time = ({ id }: Made) => Number.parseInt(id.slice(4, 16), 16);
    const left = there().filter(
      (row) => time(row) >= from && time(row) < to && (after === undefined || row.id < after),
    );
    const read: Made[] = [];
    for (const row of left.slice(0, MOST_READ)) {
      read.push(row);
      if (read.filter(isLike).length === PAGE) break;
    }
    spent.requests += 1;
    spent.rows += read.length;
    const last = read.at(-1)?.id;
    const next = last === undefined || read.length === left.length ? null : `${last}/${from}-${to}`;
    return { rows: read.filter(isLike).map((row) => ({ ...row })), next, at: endpoint.now };
  }

  const source: Source<Made> = {
    page: async (part) => page(part),
    one: async (id) => {
      spent.requests += 1;
      spent.rows += 1;
      return there().find((row) => row.id === id);
    },
    isLike,
    isOpen: (row) => !isOver(row),
    lookAgainIn,
    isWhole,
  };
  const endpoint = {
    /** Milliseconds since the epoch. */
    now: NOW,
    source,
    spent,
    add(...rows: Made[]) {
      made = newestFirst([...made, ...rows]);
    },
    change: (id: string, to: Partial<Made>) => Object.assign(made.find((row) => row.id === id) ?? {}, to),
    /** The expected rows of a list. */
    truth: () => there().filter(isLike),
  };
  return endpoint;
}
