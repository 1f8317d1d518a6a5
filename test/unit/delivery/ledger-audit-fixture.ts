import { VirtualClock } from 'aws-local/test/virtual-clock.ts';
import { newId, type ReceiverId } from '../../../functions/aws/ids.ts';
import type { Delivery } from '../../../functions/delivery/delivery.ts';
import { getLedgerHour, type LedgerEntry, sumChanges } from '../../../functions/delivery/ledger.ts';
import { type AuditLedgerPorts, auditLedger } from '../../../functions/delivery/ledger-updates.ts';
import { DEFAULT_GRACE_SECONDS } from '../../../functions/delivery/timing.ts';
import { keys } from '../../../functions/tenancy/keys.ts';
import { aDelivery, later, NOW, seconds } from '../../builders.ts';
import { MemoryEndpoints, memoryDeliveries } from '../../doubles/memory-deliveries.ts';
import { ledgerIn } from '../../doubles/memory-ledger.ts';
import { memoryOrganizationStates } from '../../doubles/memory-organization-states.ts';
import { recordedLog } from '../../doubles/recorded-log.ts';

export const hoursAgo = (hours: number): Date => later(NOW, -seconds(hours * 3600));
/** A run that has time for everything. */
export const IN_FULL = () => true;

/** Deliveries per page. */
const PAGE = 3;

/** The ledger audit over deliveries and their ledger in memory. */
export function aLedgerAudit(replaced: Partial<AuditLedgerPorts> = {}) {
  const clock = new VirtualClock();
  const states = memoryOrganizationStates();
  const log = recordedLog();
  const deliveries = memoryDeliveries(new MemoryEndpoints());
  const due = deliveries.dueIndex;
  const ledger = ledgerIn(deliveries.tables.ledger);
  const broken = new Set<ReceiverId>();
  let reads = 0;
  let parts = 0;

  const inHour: AuditLedgerPorts['readDeliveries'] = async (
    { webhookId, generation, hour },
    shard,
    after,
  ) => {
    reads += 1;
    const all = deliveries.every.filter(
      (delivery) =>
        getLedgerHour(delivery) === hour &&
        keys.delivery(delivery.webhookId, delivery.generation, delivery.id).pk ===
          keys.deliveries(webhookId, generation, shard),
    );
    const start = Number(after?.start ?? 0);
    const end = start + PAGE;
    return {
      deliveries: all.slice(start, end),
      isComplete: !broken.has(webhookId),
      ...(end < all.length ? { next: { start: end } } : {}),
    };
  };

  const run = auditLedger(
    { ledger, readDeliveries: inHour, due, organizations: states, log, now: clock.now, ...replaced },
    { graceSeconds: DEFAULT_GRACE_SECONDS },
  );

  /** Adds a delivery that was created at `born`. */
  async function add(born: Date, changes: Partial<Delivery> = {}): Promise<Delivery> {
    const delivery = aDelivery({ id: newId('dlv', born), createdAt: born.toISOString(), ...changes });
    await deliveries.add(delivery);
    return delivery;
  }

  return {
    clock,
    log,
    states,
    deliveries,
    ledger,
    /** Endpoints with an unreadable delivery. */
    broken,
    run,
    add,
    /** Adds a delivery that ended a minute after its creation. */
    addEnded: (born: Date, changes: Partial<Delivery> = {}) =>
      add(born, {
        status: 'succeeded',
        attempts: 1,
        attemptLog: [{ number: 1, startedAt: born.toISOString(), durationMs: 1 }],
        terminalAt: later(born, seconds(60)).toISOString(),
        ...changes,
      }),
    /** Counts deliveries as the stream's worker does. */
    async count(...counted: readonly Delivery[]): Promise<void> {
      for (const entry of sumChanges(counted.map((delivery) => ({ kind: 'added', delivery }))))
        await ledger.add(part(), entry);
    },
    entryOf: async (delivery: Delivery): Promise<LedgerEntry | undefined> =>
      (await ledger.every()).find(
        ({ webhookId, hour }) => webhookId === delivery.webhookId && hour === getLedgerHour(delivery),
      ),
    /** The number of reads of deliveries. */
    reads: () => reads,
  };

  function part() {
    parts += 1;
    return { shardId: 'shardId-1', first: String(parts), last: String(parts) };
  }
}
