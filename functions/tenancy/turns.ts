import type { Log } from '../aws/log-codes.ts';
import type { UnreadableRow } from '../aws/table.ts';

/** Where a read of a partition continues. */
export type Position = Record<string, unknown>;

export interface DuePage<E> {
  entries: E[];
  unreadable?: readonly UnreadableRow[];
  next?: Position;
  /** Where organizations continue that have more than their share of the page. */
  more?: readonly Position[];
}

/** One kind of work of a run, for many organizations. */
export interface Phase<E> {
  partitions: number;
  find(partition: number, position?: Position): Promise<DuePage<E>>;
  getOrganization(entry: E): string;
  /** @returns entries that are not finished and take another turn */
  handle(entries: readonly E[]): Promise<readonly E[]>;
  logUnread(partition: number, error: unknown): void;
  /** Entries that are processed between two checks of the time. */
  perRound?: number;
}

export interface Run {
  now: Date;
  /** Whether there is time to continue. */
  hasTime(): boolean;
  log: Log;
  /** Receives the errors of reads, which delay no other entry. */
  failures: unknown[];
}

/** Pages read at once. */
const READS = 8;
/** Of a round; a phase may have fewer. */
export const ROUND = { entries: 100 };
/** Of a round: an organization's entries in one turn. */
const SHARE = 1 / 10;
/** Entries in memory beyond which no further organizations are looked for. */
const MAX_WAITING = 2000;

/**
 * Processes a phase in turns by organization: reads whose entries are due, and only then more than a share of
 * each, so that one entry of an organization is reached however much another has waiting. Phases of a run
 * are started together, so that each has its part of the time.
 * @returns whether everything was processed
 */
export async function takeTurns<E>(
  { partitions, find, getOrganization, handle, logUnread, perRound = ROUND.entries }: Phase<E>,
  { now, hasTime, log, failures }: Run,
): Promise<boolean> {
  const unread = rotatePartitions(now, partitions).map((partition) => ({
    partition,
    position: undefined as Position | undefined,
  }));
  const rest: typeof unread = [];
  const lines = new Map<string, E[]>();
  let waiting = 0;

  function wait(entry: E): void {
    const orgId = getOrganization(entry);
    const line = lines.get(orgId);
    if (line === undefined) lines.set(orgId, [entry]);
    else line.push(entry);
    waiting += 1;
  }

  async function read({ partition, position }: (typeof unread)[number]): Promise<void> {
    try {
      const { entries, unreadable = [], next, more = [] } = await find(partition, position);
      for (const row of unreadable) reportUnreadableRow(log, failures, row);
      for (const entry of entries) wait(entry);
      if (next !== undefined) unread.push({ partition, position: next });
      rest.push(...more.map((each) => ({ partition, position: each })));
    } catch (error) {
      logUnread(partition, error);
      failures.push(error);
    }
  }

  /** Takes entries of one organization after the other, and puts those with more at the end. */
  function takeRound(): E[] {
    const round: E[] = [];
    for (const [orgId, line] of lines) {
      if (round.length >= perRound) break;
      round.push(...line.splice(0, Math.ceil(perRound * SHARE)));
      lines.delete(orgId);
      // A map visits what is added during a visit.
      if (line.length > 0) lines.set(orgId, line);
    }
    waiting -= round.length;
    return round;
  }

  while (unread.length + rest.length + waiting > 0) {
    if (!hasTime()) return false;
    if (unread.length > 0 && waiting < MAX_WAITING) await Promise.all(unread.splice(0, READS).map(read));
    else if (rest.length > 0 && waiting < perRound) await Promise.all(rest.splice(0, READS).map(read));
    else for (const entry of await handle(takeRound())) wait(entry);
  }
  return true;
}

function reportUnreadableRow(log: Log, failures: unknown[], { pk, sk, error }: UnreadableRow): void {
  log('DUE_ROW_UNREADABLE', { pk, sk, error });
  failures.push(error);
}

/** Rotates the partitions each minute, so that runs that end early leave none out for good. */
function rotatePartitions(now: Date, partitions: number): number[] {
  const first = Math.floor(now.getTime() / 60_000);
  return Array.from({ length: partitions }, (_, index) => (first + index) % partitions);
}
