import { type Delivery, type DeliveryRef, OPEN_STATUSES } from '../domain/delivery.ts';
import { EXPIRY_SECONDS } from '../domain/due.ts';
import {
  addCounts,
  countOpen,
  getHourBefore,
  type LedgerCounts,
  type LedgerEntry,
  NO_COUNTS,
  toCounts,
} from '../domain/ledger.ts';
import { createGenerationCheck, type OrganizationStates, UnknownTenant } from '../domain/sandbox.ts';
import { isSandbox } from '../domain/tenant.ts';
import type { Log } from '../platform/log-codes.ts';
import { mapConcurrently } from './concurrency.ts';

type Position = Record<string, unknown>;

export interface AuditLedgerPorts {
  ledger: {
    inHour(
      hour: string,
      shard: number,
      after?: Position,
    ): Promise<{ entries: LedgerEntry[]; next?: Position }>;
    correct(seen: LedgerEntry, counts: LedgerCounts): Promise<'corrected' | 'changed'>;
  };
  deliveries: {
    inHour(
      entry: LedgerEntry,
      shard: number,
      after?: Position,
    ): Promise<{
      deliveries: Delivery[];
      /** False when some cannot be read. */
      isComplete?: boolean;
      next?: Position;
    }>;
  };
  due: { watch(ref: DeliveryRef, dueAt: Date): Promise<void> };
  organizations: OrganizationStates;
  log: Log;
  now: () => Date;
}

export interface AuditLedgerSettings {
  ledgerShards: number;
  deliveryShards: number;
  graceSeconds: number;
}

/** What a run found. */
export interface LedgerAudit {
  /** Endpoints and hours that were looked at. */
  entries: number;
  /** Deliveries that are still open, hours after their creation. */
  open: number;
  /** Entries whose counts are not what the deliveries say. */
  differing: number;
  complete: boolean;
}

/**
 * Hours after which an hour is checked: when almost all has ended, and again when whatever was late may have.
 */
const AGES = [3, 6, 24] as const;
/** DynamoDB Streams keep a record for 24 hours, for who is behind with reading it. */
const STREAM_HOURS = 24;
/**
 * And once when every delivery has ended and its last stream record has been read or lost: the hour itself,
 * and one to spare. Only then are counts corrected. Earlier, the stream could still add what the correction
 * has counted.
 */
const LAST_AGE = 1 + EXPIRY_SECONDS / 3600 + STREAM_HOURS + 1;
/** The ledger may be behind the deliveries by this much, in milliseconds, without anything being wrong. */
const LAG_MS = 600_000;
const SHARDS_AT_ONCE = 4;

/**
 * Checks the ledger: what an endpoint was owed in an hour must be the sum of what succeeded, was exhausted,
 * was skipped and is still open. Where an hour does not balance by itself, its deliveries are counted; they
 * are the truth, and in the end the ledger is put right by them. Open ones among them are put into the due
 * index if they are not there: they are the ones that the stream told of too late, or in part.
 */
export function auditLedger(
  { ledger, deliveries, due, organizations: standings, log, now }: AuditLedgerPorts,
  { ledgerShards, deliveryShards, graceSeconds }: AuditLedgerSettings,
) {
  const generationOf = createGenerationCheck(standings);

  /** @param goOn whether there is time for another page */
  return async (goOn: () => boolean): Promise<LedgerAudit> => {
    const found: LedgerAudit = { entries: 0, open: 0, differing: 0, complete: true };

    async function* pagesOf<T>(
      read: (after?: Position) => Promise<{ items: T[]; next: Position | undefined }>,
    ): AsyncGenerator<T[]> {
      let after: Position | undefined;
      do {
        if (!goOn()) {
          found.complete = false;
          return;
        }
        const { items, next } = await read(after);
        yield items;
        after = next;
      } while (after !== undefined);
    }

    /**
     * @returns what the deliveries say; undefined when that is too young to be held against the ledger, or
     * time ran out
     */
    async function recount(entry: LedgerEntry): Promise<LedgerCounts | undefined> {
      let counts = NO_COUNTS;
      let isSettled = true;
      for (let shard = 0; shard < deliveryShards; shard += 1) {
        const pages = pagesOf(async (after) => {
          const { deliveries: items, isComplete = true, next } = await deliveries.inHour(entry, shard, after);
          // Some of them count for something that nobody knows: the ledger is not corrected by the others.
          if (!isComplete) isSettled = false;
          return { items, next };
        });
        for await (const page of pages) {
          for (const delivery of page) {
            counts = addCounts(counts, toCounts({ kind: 'added', delivery }));
            // What it has come to last: its end, or its beginning, which may be hours after its event.
            const { createdAt, terminalAt = createdAt } = delivery;
            if (now().getTime() - new Date(terminalAt).getTime() < LAG_MS) isSettled = false;
            if (isOpen(delivery)) await due.watch(delivery, new Date(now().getTime() + graceSeconds * 1000));
          }
        }
      }
      return isSettled && found.complete ? counts : undefined;
    }

    /** Whether a reset has come in between: then its deliveries are being deleted, and so is the entry. */
    async function isOver({ orgId, generation }: LedgerEntry): Promise<boolean> {
      if (orgId === undefined || !isSandbox({ generation })) return false;
      try {
        return (await generationOf({ orgId, generation })) === 'over';
      } catch (error) {
        // One of which nothing is known is judged like any other, and stops nobody's audit.
        if (error instanceof UnknownTenant) return false;
        throw error;
      }
    }

    async function check(entry: LedgerEntry, age: number): Promise<void> {
      found.entries += 1;
      if (countOpen(entry) === 0) return;
      const counts = await recount(entry);
      if (counts === undefined || (await isOver(entry))) return;
      found.open += countOpen(counts);
      if (JSON.stringify(counts) === JSON.stringify(addCounts(NO_COUNTS, entry))) return;
      found.differing += 1;
      const corrects = age === LAST_AGE;
      log(corrects ? 'LEDGER_CORRECTED' : 'LEDGER_DIFFERS', {
        webhookId: entry.webhookId,
        generation: entry.generation,
        hour: entry.hour,
        ledger: addCounts(NO_COUNTS, entry),
        deliveries: counts,
      });
      if (corrects) await ledger.correct(entry, counts);
    }

    const shards = Array.from({ length: ledgerShards }, (_, shard) => shard);
    for (const age of [...AGES, LAST_AGE]) {
      const hour = getHourBefore(now(), age);
      await mapConcurrently(shards, SHARDS_AT_ONCE, async (shard) => {
        const pages = pagesOf(async (after) => {
          const { entries: items, next } = await ledger.inHour(hour, shard, after);
          return { items, next };
        });
        for await (const page of pages) for (const entry of page) await check(entry, age);
      });
    }
    return found;
  };
}

const isOpen = ({ status }: Delivery): boolean => OPEN_STATUSES.some((open) => open === status);
