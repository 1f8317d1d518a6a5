import { mapConcurrently } from '../aws/concurrency.ts';
import type { Log } from '../aws/log-codes.ts';
import { createGenerationCheck, type OrganizationStates, UnknownTenant } from '../tenancy/organizations.ts';
import { isSandbox } from '../tenancy/tenant.ts';
import { type Position, takeTurns } from '../tenancy/turns.ts';
import { type Delivery, OPEN_STATUSES } from './delivery.ts';
import { type DueRef, EXPIRY_SECONDS } from './due.ts';
import {
  addCounts,
  countOpen,
  getHourBefore,
  type LedgerCounts,
  type LedgerEntry,
  NO_COUNTS,
  toCounts,
} from './ledger.ts';

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
  due: { watch(ref: DueRef, dueAt: Date): Promise<void> };
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
/** Endpoints counted at once, and concurrent additions to the due index. */
const ENTRIES_AT_ONCE = 4;
const UPDATES_AT_ONCE = 16;

/** A recount of the deliveries of an endpoint and hour, and where it continues in their shards. */
interface Recount {
  entry: LedgerEntry;
  counts: LedgerCounts;
  rest: readonly { shard: number; after?: Position }[];
  /** False when some deliveries are unreadable, or changed so recently that the ledger may not have them. */
  isSettled: boolean;
}

/**
 * Checks the ledger: the deliveries of an endpoint and hour must equal the sum of succeeded, exhausted,
 * skipped and open ones. Where they do not, the deliveries are counted, and the final check corrects the
 * ledger by them. Open deliveries that are missing in the due index are added to it. Organizations take
 * turns, a page of deliveries each.
 */
export function auditLedger(
  { ledger, deliveries, due, organizations, log, now }: AuditLedgerPorts,
  { ledgerShards, deliveryShards, graceSeconds }: AuditLedgerSettings,
) {
  const checkGeneration = createGenerationCheck(organizations);

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

  /**
   * @param hasTime whether there is time for another page
   * @throws the first error, after the rest was processed
   */
  return async (hasTime: () => boolean): Promise<LedgerAudit> => {
    const found: LedgerAudit = { entries: 0, open: 0, differing: 0, complete: true };
    const failures: unknown[] = [];
    const startedAt = now();
    const all = Array.from({ length: deliveryShards }, (_, shard) => ({ shard }));

    /** Counts a page of each shard, and returns what is left. */
    async function countPages({ entry, rest, ...recount }: Recount): Promise<Recount> {
      let { counts, isSettled } = recount;
      const pages = await Promise.all(
        rest.map(async ({ shard, after }) => ({ shard, ...(await deliveries.inHour(entry, shard, after)) })),
      );
      const counted = pages.flatMap((page) => page.deliveries);
      for (const delivery of counted) {
        counts = addCounts(counts, toCounts({ kind: 'added', delivery }));
        // Time of the last change: the end, or the creation, which may be hours after the event.
        const { createdAt, terminalAt = createdAt } = delivery;
        if (now().getTime() - new Date(terminalAt).getTime() < LAG_MS) isSettled = false;
      }
      // With unreadable rows the count is incomplete, so the ledger is not corrected.
      if (pages.some(({ isComplete }) => isComplete === false)) isSettled = false;
      const dueAt = new Date(now().getTime() + graceSeconds * 1000);
      await mapConcurrently(counted.filter(isOpen), UPDATES_AT_ONCE, (delivery) =>
        due.watch(delivery, dueAt),
      );
      const left = pages.flatMap(({ shard, next }) => (next === undefined ? [] : [{ shard, after: next }]));
      return { entry, counts, rest: left, isSettled };
    }

    async function compare(entry: LedgerEntry, counts: LedgerCounts): Promise<void> {
      if (await isDeleted(entry)) return;
      found.open += countOpen(counts);
      if (JSON.stringify(counts) === JSON.stringify(addCounts(NO_COUNTS, entry))) return;
      found.differing += 1;
      const shouldCorrect = entry.hour === getHourBefore(startedAt, LAST_AGE);
      log(shouldCorrect ? 'LEDGER_CORRECTED' : 'LEDGER_DIFFERS', {
        webhookId: entry.webhookId,
        generation: entry.generation,
        hour: entry.hour,
        ledger: addCounts(NO_COUNTS, entry),
        deliveries: counts,
      });
      if (shouldCorrect) await ledger.correct(entry, counts);
    }

    async function handleRecount(recount: Recount): Promise<Recount[]> {
      try {
        const counted = await countPages(recount);
        if (counted.rest.length > 0) return [counted];
        if (counted.isSettled) await compare(counted.entry, counted.counts);
        return [];
      } catch (error) {
        const { webhookId, generation, hour } = recount.entry;
        log('LEDGER_UNCHECKED', { webhookId, generation, hour, error });
        failures.push(error);
        return [];
      }
    }

    const ends = await Promise.all(
      [...AGES, LAST_AGE].map((age) => {
        const hour = getHourBefore(startedAt, age);
        return takeTurns<Recount>(
          {
            partitions: ledgerShards,
            async find(shard, position) {
              const { entries, next } = await ledger.inHour(hour, shard, position);
              found.entries += entries.length;
              const unbalanced = entries.filter((entry) => countOpen(entry) !== 0);
              return {
                entries: unbalanced.map((entry) => ({
                  entry,
                  counts: NO_COUNTS,
                  rest: all,
                  isSettled: true,
                })),
                ...(next === undefined ? {} : { next }),
              };
            },
            getOrganization: ({ entry: { orgId, webhookId } }) => orgId ?? webhookId,
            handle: async (recounts) =>
              (await mapConcurrently(recounts, ENTRIES_AT_ONCE, handleRecount)).flat(),
            logUnread: (shard, error) => log('LEDGER_UNCHECKED', { hour, shard, error }),
            perRound: ENTRIES_AT_ONCE,
          },
          { now: startedAt, hasTime, log, failures },
        );
      }),
    );
    found.complete = ends.every(Boolean);
    if (failures.length > 0) throw failures[0];
    return found;
  };
}

const isOpen = ({ status }: Delivery): boolean => OPEN_STATUSES.some((open) => open === status);
