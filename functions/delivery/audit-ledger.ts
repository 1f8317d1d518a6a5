import { mapConcurrently } from '../aws/concurrency.ts';
import type { Log } from '../aws/log-codes.ts';
import type { Row } from '../aws/table.ts';
import { DELIVERY_SHARDS, LEDGER_SHARDS, listShards } from '../tenancy/keys.ts';
import { createGenerationCheck, type OrganizationStates, UnknownTenant } from '../tenancy/organizations.ts';
import { type PhaseRun, type Run, sweep, takeTurns } from '../tenancy/sweep.ts';
import { isSandbox } from '../tenancy/tenant.ts';
import { type Delivery, OPEN_STATUSES } from './delivery.ts';
import type { dueIndex } from './delivery-rows.ts';
import {
  addCounts,
  countOpen,
  type deliveriesInHour,
  getHourBefore,
  type LedgerCounts,
  type LedgerEntry,
  type ledgerStore,
  NO_COUNTS,
  toCounts,
} from './ledger.ts';
import { EXPIRY_SECONDS } from './timing.ts';

export interface AuditLedgerPorts {
  ledger: Pick<ReturnType<typeof ledgerStore>, 'inHour' | 'correct'>;
  readDeliveries: ReturnType<typeof deliveriesInHour>;
  due: Pick<ReturnType<typeof dueIndex>, 'watch'>;
  organizations: OrganizationStates;
  log: Log;
  now: () => Date;
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
  rest: readonly { shard: number; after?: Row }[];
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
  { ledger, readDeliveries, due, organizations, log, now }: AuditLedgerPorts,
  { graceSeconds }: { graceSeconds: number },
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

  /** @throws as `sweep`, and what an hour could not be checked for */
  return async (hasTime: () => boolean): Promise<LedgerAudit> => {
    const found: LedgerAudit = { entries: 0, open: 0, differing: 0, complete: true };
    const startedAt = now();

    /** Counts a page of each shard, and returns what is left. */
    async function countPages({ entry, rest, ...recount }: Recount): Promise<Recount> {
      let { counts, isSettled } = recount;
      const pages = await Promise.all(
        rest.map(async ({ shard, after }) => ({ shard, ...(await readDeliveries(entry, shard, after)) })),
      );
      const counted = pages.flatMap((page) => page.deliveries);
      for (const delivery of counted) {
        counts = addCounts(counts, toCounts({ kind: 'added', delivery }));
        // Time of the last change: the end, or the creation, which may be hours after the event.
        const { createdAt, terminalAt = createdAt } = delivery;
        if (now().getTime() - new Date(terminalAt).getTime() < LAG_MS) isSettled = false;
      }
      // With unreadable rows the count is incomplete, so the ledger is not corrected.
      if (pages.some(({ isComplete }) => !isComplete)) isSettled = false;
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

    async function handleRecount(recount: Recount, { failures }: Run): Promise<Recount[]> {
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

    const takeHour = (age: number): PhaseRun => {
      const hour = getHourBefore(startedAt, age);
      return takeTurns<Recount, Row>({
        partitions: LEDGER_SHARDS,
        async find(shard, position) {
          const page = await ledger.inHour(hour, shard, position);
          found.entries += page.entries.length;
          const unbalanced = page.entries.filter((entry) => countOpen(entry) !== 0);
          const rest = listShards(DELIVERY_SHARDS).map((deliveryShard) => ({ shard: deliveryShard }));
          return {
            ...page,
            entries: unbalanced.map((entry) => ({ entry, counts: NO_COUNTS, rest, isSettled: true })),
          };
        },
        getOrganization: ({ entry: { orgId, webhookId } }) => orgId ?? webhookId,
        handle: async (recounts, run) =>
          (await mapConcurrently(recounts, ENTRIES_AT_ONCE, (recount) => handleRecount(recount, run))).flat(),
        logUnread: (shard, error) => log('LEDGER_UNCHECKED', { hour, shard, error }),
        perRound: ENTRIES_AT_ONCE,
      });
    };
    const context = { now: startedAt, hasTime, log };
    found.complete = await sweep([...AGES, LAST_AGE].map(takeHour), context);
    return found;
  };
}

const isOpen = ({ status }: Delivery): boolean => OPEN_STATUSES.some((open) => open === status);
