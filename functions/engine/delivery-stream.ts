import type { DeliveryRef } from '../domain/delivery.ts';
import { buildEntryKey, type DeliveryChange, type LedgerAddition, sumChanges } from '../domain/ledger.ts';
import { Defect } from '../domain/problem.ts';
import { createGenerationCheck, type OrganizationStates, UnknownTenant } from '../domain/sandbox.ts';
import { isSandbox } from '../domain/tenant.ts';
import type { Log } from '../platform/log-codes.ts';
import { collectFailures, mapSettled } from './concurrency.ts';

/** A change of a delivery with its place in its shard of the stream. */
export interface SequencedChange extends DeliveryChange {
  /** Decimal digits without leading zeros. */
  sequence: string;
}

export interface DeliveryStreamPorts {
  due: { watch(ref: DeliveryRef, dueAt: Date): Promise<void> };
  ledger: {
    /** @returns up to where the shard was counted into the entry already, when that is not before the part */
    add(
      part: { shardId: string; first: string; last: string },
      entry: LedgerAddition,
    ): Promise<'added' | { countedTo: string }>;
  };
  organizations: OrganizationStates;
  log: Log;
  now: () => Date;
}

/** Writes under way at once. */
const CONCURRENCY = 16;
/** How often a part is cut anew because another run of the same shard was there first. */
const MAX_CUTS = 10;

/**
 * Follows the stream of the deliveries. Of what was added and has not ended within the same batch, it puts
 * each into the due index, so that a lost message is noticed; most end within it and cost nothing. Then it
 * counts what happened, each record once however often it is read. What a reset has wiped is not counted: its
 * entries are being deleted.
 * @param graceSeconds how late a delivery may be before its message counts as lost
 */
export function processDeliveryStream(
  { due, ledger, organizations: standings, log, now }: DeliveryStreamPorts,
  { graceSeconds }: { graceSeconds: number },
) {
  const generationOf = createGenerationCheck(standings);

  /** Counts the changes of one entry, in their order, but for those that an earlier run has counted. */
  async function count(shardId: string, changes: readonly SequencedChange[]): Promise<void> {
    let uncounted = changes;
    for (let cut = 1; cut <= MAX_CUTS; cut += 1) {
      const [first, last, [entry]] = [uncounted.at(0), uncounted.at(-1), sumChanges(uncounted)];
      if (first === undefined || last === undefined || entry === undefined) return;
      const result = await ledger.add({ shardId, first: first.sequence, last: last.sequence }, entry);
      if (result === 'added') return;
      uncounted = uncounted.filter(({ sequence }) => BigInt(sequence) > BigInt(result.countedTo));
    }
    throw new Defect(`the ledger was ahead of ${shardId} ${MAX_CUTS} times`);
  }

  /** Whether a change's tenant is at its generation, past it, or not to be found. */
  async function standingOf({ delivery }: SequencedChange): Promise<'current' | 'over' | 'unknown'> {
    // Live data has but one generation: nothing to ask.
    if (!isSandbox(delivery)) return 'current';
    try {
      return await generationOf(delivery);
    } catch (error) {
      // Repeating it would stop the shard. What is open is watched all the same, and the audit finds what is
      // missing from the ledger.
      if (!(error instanceof UnknownTenant)) throw error;
      log('TENANT_UNKNOWN', { orgId: delivery.orgId, error });
      return 'unknown';
    }
  }

  /**
   * The changes by how their tenants stand; each tenant is asked for once. Those whose tenant cannot be read
   * are in neither list.
   */
  async function byStanding(read: readonly SequencedChange[]) {
    const byTenant = [
      ...Map.groupBy(read, ({ delivery }) => `${delivery.orgId}#${delivery.generation}`).values(),
    ];
    const standingOfAll = new Map<SequencedChange, 'current' | 'over' | 'unknown'>();
    const results = await mapSettled(byTenant, CONCURRENCY, async (each) => {
      const [first] = each;
      if (first === undefined) return;
      const standing = await standingOf(first);
      for (const change of each) standingOfAll.set(change, standing);
    });
    return {
      present: read.filter((change) => ['current', 'unknown'].includes(standingOfAll.get(change) ?? 'over')),
      current: read.filter((change) => standingOfAll.get(change) === 'current'),
      errors: collectFailures(byTenant, results).map(({ error }) => error),
    };
  }

  /** @throws the first error, after everything else of the batch was processed */
  return async (shardId: string, read: readonly SequencedChange[]): Promise<void> => {
    const { present, current, errors } = await byStanding(read);
    const ended = new Set(present.filter(({ kind }) => kind === 'ended').map(({ delivery }) => delivery.id));
    const open = present.filter(
      ({ kind, delivery }) => kind === 'added' && delivery.status === 'pending' && !ended.has(delivery.id),
    );
    const dueAt = new Date(now().getTime() + graceSeconds * 1000);
    const watched = await mapSettled(open, CONCURRENCY, ({ delivery }) => due.watch(delivery, dueAt));
    const unwatched = collectFailures(open, watched);
    // Counted last: a delivery that is counted and in no due index would be lost.
    const uncounted = new Set(unwatched.map(({ item }) => buildEntryKey(item.delivery)));
    const byEntry = Map.groupBy(current, ({ delivery }) => buildEntryKey(delivery));
    const entries = [...byEntry].flatMap(([key, changes]) => (uncounted.has(key) ? [] : [changes]));
    const counted = await mapSettled(entries, CONCURRENCY, (changes) => count(shardId, changes));
    if (open.length > unwatched.length) log('DELIVERIES_WATCHED', { count: open.length - unwatched.length });
    for (const { error } of [...unwatched, ...collectFailures(entries, counted)]) errors.push(error);
    if (errors.length > 0) throw errors[0];
  };
}
