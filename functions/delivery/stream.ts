import { collectFailures, mapSettled } from '../aws/concurrency.ts';
import type { Log } from '../aws/log-codes.ts';
import { Defect } from '../aws/logger.ts';
import { createGenerationCheck, type OrganizationStates, UnknownTenant } from '../tenancy/organizations.ts';
import { isSandbox } from '../tenancy/tenant.ts';
import type { dueIndex } from './delivery-rows.ts';
import { buildEntryKey, type DeliveryChange, type ledgerStore, sumChanges } from './ledger.ts';

/** A change with its position in its shard of the stream. */
export interface SequencedChange extends DeliveryChange {
  /** Decimal digits without leading zeros. */
  sequence: string;
}

export interface DeliveryStreamPorts {
  due: Pick<ReturnType<typeof dueIndex>, 'watch'>;
  ledger: Pick<ReturnType<typeof ledgerStore>, 'add'>;
  organizations: OrganizationStates;
  log: Log;
  now: () => Date;
}

/** Concurrent writes. */
const CONCURRENCY = 16;
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
  async function count(shardId: string, changes: readonly SequencedChange[]): Promise<void> {
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
    const results = await mapSettled(byTenant, CONCURRENCY, async (each) => {
      const [first] = each;
      if (first === undefined) return;
      const state = await getTenantState(first);
      for (const change of each) states.set(change, state);
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
    const watched = await mapSettled(open, CONCURRENCY, ({ delivery }) => due.watch(delivery, dueAt));
    const unwatched = collectFailures(open, watched);
    // Counted last: a delivery that is counted but missing in the due index would be lost.
    const uncounted = new Set(unwatched.map(({ item }) => buildEntryKey(item.delivery)));
    const byEntry = Map.groupBy(current, ({ delivery }) => buildEntryKey(delivery));
    const entries = [...byEntry].flatMap(([key, changes]) => (uncounted.has(key) ? [] : [changes]));
    const counted = await mapSettled(entries, CONCURRENCY, (changes) => count(shardId, changes));
    if (open.length > unwatched.length) log('DELIVERIES_WATCHED', { count: open.length - unwatched.length });
    for (const { error } of [...unwatched, ...collectFailures(entries, counted)]) errors.push(error);
    if (errors.length > 0) throw errors[0];
  };
}
