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
      /** False when some rows cannot be read. */
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

export interface LedgerAudit {
  /** Endpoints and hours that were checked. */
  entries: number;
  /** Deliveries still open hours after their creation. */
  open: number;
  /** Entries whose counts differ from their deliveries. */
  differing: number;
  complete: boolean;
}

/** Ages in hours at which an hour is checked: when most deliveries have ended, and later for the others. */
const AGES = [3, 6, 24] as const;
/** DynamoDB Streams keeps a record for 24 hours. */
const STREAM_HOURS = 24;
/**
 * Age of the final check: every delivery has ended, and its last stream record was read or lost. Only then
 * are counts corrected; earlier, the stream could add what the correction already counted.
 */
const LAST_AGE = 1 + EXPIRY_SECONDS / 3600 + STREAM_HOURS + 1;
/** Allowed lag of the ledger behind the deliveries, in milliseconds. */
const LAG_MS = 600_000;
const SHARDS_AT_ONCE = 4;

/**
 * Checks the ledger: the deliveries of an endpoint and hour must equal the sum of succeeded, exhausted,
 * skipped and open ones. Where they do not, the deliveries are counted, and the final check corrects the
 * ledger by them. Open deliveries that are missing in the due index are added to it.
 */
export function auditLedger(
  { ledger, deliveries, due, organizations, log, now }: AuditLedgerPorts,
  { ledgerShards, deliveryShards, graceSeconds }: AuditLedgerSettings,
) {
  const checkGeneration = createGenerationCheck(organizations);

  /** @param hasTime whether there is time for another page */
  return async (hasTime: () => boolean): Promise<LedgerAudit> => {
    const found: LedgerAudit = { entries: 0, open: 0, differing: 0, complete: true };

    async function* readPages<T>(
      read: (after?: Position) => Promise<{ items: T[]; next: Position | undefined }>,
    ): AsyncGenerator<T[]> {
      let after: Position | undefined;
      do {
        if (!hasTime()) {
          found.complete = false;
          return;
        }
        const { items, next } = await read(after);
        yield items;
        after = next;
      } while (after !== undefined);
    }

    /**
     * @returns the counts of the deliveries; undefined when they are too recent to compare, or time ran out
     */
    async function recount(entry: LedgerEntry): Promise<LedgerCounts | undefined> {
      let counts = NO_COUNTS;
      let isSettled = true;
      for (let shard = 0; shard < deliveryShards; shard += 1) {
        const pages = readPages(async (after) => {
          const { deliveries: items, isComplete = true, next } = await deliveries.inHour(entry, shard, after);
          // With unreadable rows the count is incomplete, so the ledger is not corrected.
          if (!isComplete) isSettled = false;
          return { items, next };
        });
        for await (const page of pages) {
          for (const delivery of page) {
            counts = addCounts(counts, toCounts({ kind: 'added', delivery }));
            // Time of the last change: the end, or the creation, which may be hours after the event.
            const { createdAt, terminalAt = createdAt } = delivery;
            if (now().getTime() - new Date(terminalAt).getTime() < LAG_MS) isSettled = false;
            if (isOpen(delivery)) await due.watch(delivery, new Date(now().getTime() + graceSeconds * 1000));
          }
        }
      }
      return isSettled && found.complete ? counts : undefined;
    }

    /** Whether a reset came in between: deliveries and entry are being deleted. */
    async function isDeleted({ orgId, generation }: LedgerEntry): Promise<boolean> {
      if (orgId === undefined || !isSandbox({ generation })) return false;
      try {
        return (await checkGeneration({ orgId, generation })) === 'over';
      } catch (error) {
        // An entry of an unknown tenant is checked like any other.
        if (error instanceof UnknownTenant) return false;
        throw error;
      }
    }

    async function check(entry: LedgerEntry, age: number): Promise<void> {
      found.entries += 1;
      if (countOpen(entry) === 0) return;
      const counts = await recount(entry);
      if (counts === undefined || (await isDeleted(entry))) return;
      found.open += countOpen(counts);
      if (JSON.stringify(counts) === JSON.stringify(addCounts(NO_COUNTS, entry))) return;
      found.differing += 1;
      const shouldCorrect = age === LAST_AGE;
      log(shouldCorrect ? 'LEDGER_CORRECTED' : 'LEDGER_DIFFERS', {
        webhookId: entry.webhookId,
        generation: entry.generation,
        hour: entry.hour,
        ledger: addCounts(NO_COUNTS, entry),
        deliveries: counts,
      });
      if (shouldCorrect) await ledger.correct(entry, counts);
    }

    const shards = Array.from({ length: ledgerShards }, (_, shard) => shard);
    for (const age of [...AGES, LAST_AGE]) {
      const hour = getHourBefore(now(), age);
      await mapConcurrently(shards, SHARDS_AT_ONCE, async (shard) => {
        const pages = readPages(async (after) => {
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
