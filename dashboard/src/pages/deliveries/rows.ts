import type { DeliveryStatus } from '../../api/webhooks.ts';

/** A delivery, as far as a list's order and freshness are concerned. */
export interface Row {
  /** Identifiers ascend in time: `dlv_` and twelve hexadecimal digits of milliseconds begin it (decisions.md, Representation). */
  id: string;
  status: DeliveryStatus;
}

/** Rows from the top of a list that are asked for again at most. */
const HEAD = 100;
/** How much later than its event a delivery may come into being and still be seen without a reload. */
const LATE_MS = 15_000;

const timeOf = ({ id }: Row): number => Number.parseInt(id.slice(4, 16), 16);

/**
 * From when on the top of a list is asked for again: what is new, what may still come late, and what may still change among the first rows.
 * @param rows newest first @param now milliseconds since the epoch, for a list without any
 */
export function freshFrom(rows: readonly Row[], now: number): number {
  const head = rows.slice(0, HEAD);
  const [newest, oldest] = [head.at(0), head.at(-1)];
  if (newest === undefined || oldest === undefined) return now - LATE_MS;
  const open = head.findLast(({ status }) => status === 'pending' || status === 'retrying');
  const wanted = Math.min(
    timeOf(newest) - LATE_MS,
    open === undefined ? Number.POSITIVE_INFINITY : timeOf(open),
  );
  // Of a list that ends within the head nothing older is left out.
  return rows.length > HEAD ? Math.max(wanted, timeOf(oldest)) : wanted;
}

/** Puts what was read again in the place of what the list had of that time: what is gone from it is no longer like what is looked for. */
export function withHead<R extends Row>(rows: readonly R[], head: readonly R[], from: number): R[] {
  const older = rows.findIndex((row) => timeOf(row) < from);
  return older === -1 ? [...head] : [...head, ...rows.slice(older)];
}

/** Brings the rows of a list up to date and leaves their number and order alone: whoever reads further down is not moved. */
export function updatedInPlace<R extends Row>(
  rows: readonly R[],
  head: readonly R[],
): { rows: readonly R[]; fresh: number } {
  const read = new Map(head.map((row) => [row.id, row]));
  const first = rows[0];
  const fresh = first === undefined ? head.length : head.filter(({ id }) => id > first.id).length;
  const end = Math.min(rows.length, HEAD);
  const changed = rows.slice(0, end).map((row) => read.get(row.id) ?? row);
  const isSame = changed.every((row, index) => row.status === rows[index]?.status);
  return { rows: isSame ? rows : [...changed, ...rows.slice(end)], fresh };
}

/** A further page behind the rows that are there. */
export function withPage<R extends Row>(rows: readonly R[], page: readonly R[]): R[] {
  const last = rows.at(-1);
  return [...rows, ...page.filter(({ id }) => last === undefined || id < last.id)];
}
