import { collectFailures, type Failure, mapSettled } from '../aws/concurrency.ts';
import type { Log } from '../aws/log-codes.ts';
import type { UnreadableRow } from '../aws/table.ts';

interface DuePage<E, P> {
  entries: E[];
  unreadable?: readonly UnreadableRow[];
  /** Where the read of the partition continues. */
  next?: P;
  /** Where organizations continue that have more than their share of the page. */
  more?: readonly P[];
}

/** One kind of work of a run, for many organizations. */
export interface Phase<E, P> {
  partitions: number;
  find(partition: number, position?: P): Promise<DuePage<E, P>>;
  getOrganization(entry: E): string;
  /** @returns entries that are not finished and take another turn */
  handle(entries: readonly E[], run: Run): Promise<readonly E[]>;
  logUnread(partition: number, error: unknown): void;
  /** Entries that are processed between two checks of the time. */
  perRound?: number;
}

export interface RunContext {
  now: Date;
  /** Whether there is time to continue. */
  hasTime(): boolean;
  log: Log;
}

export interface Run extends RunContext {
  /** Receives the errors of reads, which delay no other entry. */
  failures: unknown[];
}

/** @returns whether everything was processed */
export type PhaseRun = (run: Run) => Promise<boolean>;

/** Pages read at once. */
const READS = 8;
/** Of a round; a phase may have fewer. */
export const ROUND = { entries: 100 };
/** Of a round: an organization's entries in one turn. */
const SHARE = 1 / 10;
/** Entries in memory beyond which no further organizations are looked for. */
const MAX_WAITING = 2000;
/** Concurrent updates of a round. */
const UPDATES = 16;

/**
 * Runs the phases of a scheduled worker, started together so that each has its part of the time. A run can
 * end anywhere: the next one finds what is still due.
 * @returns whether everything was processed; otherwise the next run continues
 * @throws the first read error, after the rest was processed
 */
export async function sweep(phases: readonly PhaseRun[], context: RunContext): Promise<boolean> {
  const failures: unknown[] = [];
  const ends = await Promise.all(phases.map((phase) => phase({ ...context, failures })));
  if (failures.length > 0) throw failures[0];
  return ends.every(Boolean);
}

/**
 * Processes a phase in turns by organization: reads whose entries are due, and only then more than a share of
 * each, so that one entry of an organization is reached however much another has waiting.
 */
export const processInRounds =
  <E, P>({
    partitions,
    find,
    getOrganization,
    handle,
    logUnread,
    perRound = ROUND.entries,
  }: Phase<E, P>): PhaseRun =>
  async (run) => {
    const unread = rotatePartitions(run.now, partitions).map((partition) => ({
      partition,
      position: undefined as P | undefined,
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
        for (const { pk, sk, error } of unreadable) {
          run.log('DUE_ROW_UNREADABLE', { pk, sk, error });
          run.failures.push(error);
        }
        for (const entry of entries) wait(entry);
        if (next !== undefined) unread.push({ partition, position: next });
        rest.push(...more.map((continued) => ({ partition, position: continued })));
      } catch (error) {
        logUnread(partition, error);
        run.failures.push(error);
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
      if (!run.hasTime()) return false;
      if (unread.length > 0 && waiting < MAX_WAITING) await Promise.all(unread.splice(0, READS).map(read));
      else if (rest.length > 0 && waiting < perRound) await Promise.all(rest.splice(0, READS).map(read));
      else for (const entry of await handle(takeRound(), run)) wait(entry);
    }
    return true;
  };

/** Rotates the partitions each minute, so that runs that end early leave none out for good. */
function rotatePartitions(now: Date, partitions: number): number[] {
  const first = Math.floor(now.getTime() / 60_000);
  return Array.from({ length: partitions }, (_, index) => (first + index) % partitions);
}

/**
 * Sends the messages of due entries. They are postponed afterwards, because an extra message changes nothing.
 * @param logUnsent called with the first error when some were not taken
 * @returns the entries whose messages were taken
 */
export async function sendMessages<E, M>(
  entries: readonly E[],
  toMessage: (entry: E) => M,
  send: (messages: readonly M[]) => Promise<readonly Failure<M>[]>,
  logUnsent: (error: unknown) => void,
): Promise<E[]> {
  const entryOf = new Map(entries.map((entry) => [toMessage(entry), entry]));
  const refused = await send([...entryOf.keys()]);
  if (refused[0] !== undefined) logUnsent(refused[0].error);
  for (const { item } of refused) entryOf.delete(item);
  return [...entryOf.values()];
}

/** @returns the number of entries whose update failed, which stay due */
export async function updateEntries<E>(
  entries: readonly E[],
  update: (entry: E) => Promise<void>,
  logFailure: (entry: E, error: unknown) => void,
): Promise<number> {
  const failures = collectFailures(entries, await mapSettled(entries, UPDATES, update));
  for (const { item, error } of failures) logFailure(item, error);
  return failures.length;
}
