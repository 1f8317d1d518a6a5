import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { DynamoDBRecord } from 'aws-lambda';
import { collectFailures, mapConcurrently, mapSettled } from '../aws/concurrency.ts';
import type { Log } from '../aws/log-codes.ts';
import { Defect, logger } from '../aws/logger.ts';
import { count, UNREADABLE_ROWS } from '../aws/metrics.ts';
import { parseRow, type Row } from '../aws/table.ts';
import { DELIVERY_SHARDS, LEDGER_SHARDS, listShards } from '../tenancy/keys.ts';
import { createGenerationCheck, type OrganizationStates, UnknownTenant } from '../tenancy/organizations.ts';
import { type PhaseRun, processInRounds, type Run, sweep } from '../tenancy/sweep.ts';
import { isSandbox } from '../tenancy/tenant.ts';
import { isOpen } from './delivery.ts';
import type { dueIndex } from './due-index.ts';
import {
  addCounts,
  buildEntryKey,
  countOpen,
  type DeliveryChange,
  type deliveriesInHour,
  getHourBefore,
  type LedgerCounts,
  type LedgerEntry,
  type ledgerStore,
  NO_COUNTS,
  sumChanges,
  toCounts,
} from './ledger.ts';
import { parseDelivery } from './rows.ts';
import { EXPIRY_SECONDS } from './timing.ts';

/** Concurrent writes. */
const WRITES = 16;

/** A change with its position in its shard of the stream. */
export interface SequencedChange extends DeliveryChange {
  /** Decimal digits without leading zeros. */
  sequence: string;
}

/** Parses a record of the stream; none when it is unreadable, which is reported and counted. */
export function parseChange({ eventName, dynamodb }: DynamoDBRecord): SequencedChange[] {
  const sequence = dynamodb?.SequenceNumber ?? '0';
  try {
    const delivery = parseDelivery(parseRow(dynamodb?.NewImage as Record<string, AttributeValue>));
    // It had ended before.
    if (delivery.erased) return [];
    return [{ kind: eventName === 'INSERT' ? 'added' : 'ended', delivery, sequence }];
  } catch (error) {
    // A repetition would block the shard. The ledger audit adds missing counts.
    logger.log('DELIVERY_UNREADABLE', { sequence, error });
    count(UNREADABLE_ROWS);
    return [];
  }
}

export interface DeliveryStreamPorts {
  due: Pick<ReturnType<typeof dueIndex>, 'watch'>;
  ledger: Pick<ReturnType<typeof ledgerStore>, 'add'>;
  organizations: OrganizationStates;
  log: Log;
  now: () => Date;
}

/** Tries to cut a part that another run of the shard has already counted partly. */
const MAX_RETRIES = 10;

/**
 * Processes the deliveries' stream. Added deliveries that are still open at the end of a batch go into the
 * due index, so that a lost message is noticed; most end within the batch. Then changes are counted, each
 * record once. Deliveries of an older sandbox generation are not counted.
 * @param graceSeconds seconds past due after which a message counts as lost
 */
export function processDeliveryStream(
  { due, ledger, organizations, log, now }: DeliveryStreamPorts,
  { graceSeconds }: { graceSeconds: number },
) {
  const checkGeneration = createGenerationCheck(organizations);

  /** Counts the changes of one entry in order, without those that an earlier run counted. */
  async function countChanges(shardId: string, changes: readonly SequencedChange[]): Promise<void> {
    let uncounted = changes;
    for (let cut = 1; cut <= MAX_RETRIES; cut += 1) {
      const [first, last, [entry]] = [uncounted.at(0), uncounted.at(-1), sumChanges(uncounted)];
      if (first === undefined || last === undefined || entry === undefined) return;
      const result = await ledger.add({ shardId, first: first.sequence, last: last.sequence }, entry);
      if (result === 'added') return;
      uncounted = uncounted.filter(({ sequence }) => BigInt(sequence) > BigInt(result.countedTo));
    }
    throw new Defect(`the ledger was ahead of ${shardId} ${MAX_RETRIES} times`);
  }

  async function getTenantState({ delivery }: SequencedChange): Promise<'current' | 'over' | 'unknown'> {
    // Live data has one generation.
    if (!isSandbox(delivery)) return 'current';
    try {
      return await checkGeneration(delivery);
    } catch (error) {
      // A repetition would block the shard. Open deliveries are watched anyway, and the ledger audit adds
      // missing counts.
      if (!(error instanceof UnknownTenant)) throw error;
      log('TENANT_UNKNOWN', { orgId: delivery.orgId, error });
      return 'unknown';
    }
  }

  /**
   * Groups changes by the state of their tenants, each read once. Changes whose tenant cannot be read are in
   * neither list.
   */
  async function groupByTenantState(read: readonly SequencedChange[]) {
    const byTenant = [
      ...Map.groupBy(read, ({ delivery }) => `${delivery.orgId}#${delivery.generation}`).values(),
    ];
    const states = new Map<SequencedChange, 'current' | 'over' | 'unknown'>();
    const results = await mapSettled(byTenant, WRITES, async (changes) => {
      const [first] = changes;
      if (first === undefined) return;
      const state = await getTenantState(first);
      for (const change of changes) states.set(change, state);
    });
    return {
      present: read.filter((change) => ['current', 'unknown'].includes(states.get(change) ?? 'over')),
      current: read.filter((change) => states.get(change) === 'current'),
      errors: collectFailures(byTenant, results).map(({ error }) => error),
    };
  }

  /** @throws the first error, after the rest of the batch was processed */
  return async (shardId: string, read: readonly SequencedChange[]): Promise<void> => {
    const { present, current, errors } = await groupByTenantState(read);
    const ended = new Set(present.filter(({ kind }) => kind === 'ended').map(({ delivery }) => delivery.id));
    const open = present.filter(
      ({ kind, delivery }) => kind === 'added' && delivery.status === 'pending' && !ended.has(delivery.id),
    );
    const dueAt = new Date(now().getTime() + graceSeconds * 1000);
    const watched = await mapSettled(open, WRITES, ({ delivery }) => due.watch(delivery, dueAt));
    const unwatched = collectFailures(open, watched);
    // Counted last: a delivery that is counted but missing in the due index would be lost.
    const uncounted = new Set(unwatched.map(({ item }) => buildEntryKey(item.delivery)));
    const byEntry = Map.groupBy(current, ({ delivery }) => buildEntryKey(delivery));
    const entries = [...byEntry].flatMap(([key, changes]) => (uncounted.has(key) ? [] : [changes]));
    const counted = await mapSettled(entries, WRITES, (changes) => countChanges(shardId, changes));
    if (open.length > unwatched.length) log('DELIVERIES_WATCHED', { count: open.length - unwatched.length });
    for (const { error } of [...unwatched, ...collectFailures(entries, counted)]) errors.push(error);
    if (errors.length > 0) throw errors[0];
  };
}

export interface AuditLedgerPorts {
  ledger: Pick<ReturnType<typeof ledgerStore>, 'inHour' | 'correct'>;
  readDeliveries: ReturnType<typeof deliveriesInHour>;
  due: Pick<ReturnType<typeof dueIndex>, 'watch'>;
  organizations: OrganizationStates;
  log: Log;
  now: () => Date;
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
/** Endpoints counted at once. */
const ENTRIES_AT_ONCE = 4;

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
  return async (hasTime: () => boolean) => {
    const audit = {
      /** Endpoints and hours that were checked. */
      entries: 0,
      /** Deliveries still open hours after their creation. */
      open: 0,
      /** Entries whose counts differ from their deliveries. */
      differing: 0,
      complete: true,
    };
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
      await mapConcurrently(counted.filter(isOpen), WRITES, (delivery) => due.watch(delivery, dueAt));
      const unread = pages.flatMap(({ shard, next }) => (next === undefined ? [] : [{ shard, after: next }]));
      return { entry, counts, rest: unread, isSettled };
    }

    async function compare(entry: LedgerEntry, counts: LedgerCounts): Promise<void> {
      if (await isDeleted(entry)) return;
      audit.open += countOpen(counts);
      if (JSON.stringify(counts) === JSON.stringify(addCounts(NO_COUNTS, entry))) return;
      audit.differing += 1;
      const shouldCorrect = entry.hour === getHourBefore(startedAt, LAST_AGE);
      const { webhookId, generation, hour } = entry;
      const fields = { webhookId, generation, hour, ledger: addCounts(NO_COUNTS, entry), deliveries: counts };
      log(shouldCorrect ? 'LEDGER_CORRECTED' : 'LEDGER_DIFFERS', fields);
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
      return processInRounds<Recount, Row>({
        partitions: LEDGER_SHARDS,
        async find(shard, position) {
          const page = await ledger.inHour(hour, shard, position);
          audit.entries += page.entries.length;
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
    audit.complete = await sweep([...AGES, LAST_AGE].map(takeHour), { now: startedAt, hasTime, log });
    return audit;
  };
}
