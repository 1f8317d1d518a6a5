import { VirtualClock } from 'aws-local/test/virtual-clock.ts';
import type { DeliveryChange, LedgerEntry } from '../../../functions/delivery/ledger.ts';
import {
  type DeliveryStreamPorts,
  processDeliveryStream,
  type SequencedChange,
} from '../../../functions/delivery/ledger-updates.ts';
import { DEFAULT_GRACE_SECONDS } from '../../../functions/delivery/timing.ts';
import { MemoryEndpoints, memoryDeliveries } from '../../doubles/memory-deliveries.ts';
import { ledgerIn } from '../../doubles/memory-ledger.ts';
import { memoryOrganizationStates } from '../../doubles/memory-organization-states.ts';
import { recordedLog } from '../../doubles/recorded-log.ts';

export const SHARD = 'shardId-1';

/**
 * Changes as a shard of the stream numbers them: rising, with gaps, and beyond what a number holds exactly.
 */
export const sequenced = (changes: readonly DeliveryChange[]): SequencedChange[] =>
  changes.map((change, index) => ({
    ...change,
    sequence: String(9_999_999_999_999_990n + 7n * BigInt(index)),
  }));

/** The delivery stream's worker over deliveries in memory. */
export function aDeliveryStream(replaced: Partial<DeliveryStreamPorts> = {}) {
  const clock = new VirtualClock();
  const states = memoryOrganizationStates();
  const log = recordedLog();
  const deliveries = memoryDeliveries(new MemoryEndpoints());
  const due = deliveries.dueIndex;
  const ledger = ledgerIn(deliveries.tables.ledger);
  const run = processDeliveryStream(
    { due, ledger, organizations: states, log, now: clock.now, ...replaced },
    { graceSeconds: DEFAULT_GRACE_SECONDS },
  );
  return { clock, log, states, deliveries, due, ledger, run };
}

/** Sorts entries by key, since the order of counting may vary. */
export const inOrder = (entries: readonly LedgerEntry[]): LedgerEntry[] =>
  entries.toSorted((a, b) => entryNameOf(a).localeCompare(entryNameOf(b)));

export const entryNameOf = ({ webhookId, generation, hour }: LedgerEntry): string =>
  `${webhookId} ${generation} ${hour}`;
