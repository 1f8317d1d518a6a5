import type { VirtualClock } from 'aws-local/test/virtual-clock.ts';
import type { Delivery } from '../../functions/domain/delivery.ts';
import type { DeliveryId } from '../../functions/domain/ids.ts';
import { buildEntryKey, type LedgerEntry } from '../../functions/domain/ledger.ts';
import type { RowChange } from '../doubles/memory-deliveries.ts';
import type { Stores } from './stores.ts';
import { type StreamRecord, StreamShard } from './stream-shard.ts';

/** The stream of the deliveries' table, and how far the ledger has counted it. */
export class DeliveryStream {
  readonly shards: readonly StreamShard<RowChange>[];
  readonly #deliveries: Pick<Stores['deliveries'], 'stream'>;
  readonly #clock: VirtualClock;
  readonly #additions = new Map<DeliveryId, { shardId: string; record: StreamRecord<RowChange> }>();
  /** Positions up to which each shard was counted, by entry. */
  readonly #counted = new Map<string, number>();
  /** The entry under which each record is counted. */
  readonly #positions = new Map<StreamRecord<RowChange>, string>();
  /** Records that are not counted: their data was deleted by a reset, or their tenant was not found. */
  readonly #dropped = new Set<StreamRecord<RowChange>>();
  #taken = 0;
  #longestLagMs = 0;

  constructor(deliveries: Pick<Stores['deliveries'], 'stream'>, clock: VirtualClock, shards: number) {
    this.#deliveries = deliveries;
    this.#clock = clock;
    this.shards = Array.from({ length: shards }, (_, shard) => new StreamShard(`deliveries-${shard}`));
  }

  /**
   * Takes over the changes of the table.
   * @returns the deliveries that were added
   */
  take(): Delivery[] {
    const { stream } = this.#deliveries;
    const added: Delivery[] = [];
    for (; this.#taken < stream.length; this.#taken += 1) {
      const change = stream[this.#taken];
      const id = change?.delivery.id;
      const shard = this.shards[Number.parseInt(id?.at(-1) ?? '0', 16) % this.shards.length];
      if (change === undefined || id === undefined || shard === undefined) continue;
      const record = shard.write(change, this.#clock.ms);
      if (change.kind === 'ended') continue;
      this.#additions.set(id, { shardId: shard.id, record });
      added.push(change.delivery);
    }
    return added;
  }

  /** The ledger has counted a shard up to a position in one of its entries. */
  countedTo(shardId: string, { webhookId, generation, hour }: LedgerEntry, sequence: number): void {
    this.noteLag();
    this.#counted.set(`${shardId}/${webhookId}#${generation}#${hour}`, sequence);
  }

  /** The ledger will not count the record. */
  drop(record: StreamRecord<RowChange>): void {
    this.noteLag();
    this.#dropped.add(record);
  }

  /** Whether the ledger has counted the addition of the delivery. */
  isCounted(id: DeliveryId): boolean {
    const addition = this.#additions.get(id);
    return addition !== undefined && this.#isCounted(addition.shardId, addition.record);
  }

  /** Records how far the ledger is behind. */
  noteLag(): void {
    for (const { id, records } of this.shards) {
      const first = records.find((record) => !this.#isCounted(id, record) && !this.#dropped.has(record));
      if (first !== undefined)
        this.#longestLagMs = Math.max(this.#longestLagMs, this.#clock.ms - first.writtenMs);
    }
  }

  /** How far the ledger is behind, or was at most. */
  get longestLagMs(): number {
    this.noteLag();
    return this.#longestLagMs;
  }

  #isCounted(shardId: string, record: StreamRecord<RowChange>): boolean {
    const position = this.#positions.get(record) ?? `${shardId}/${buildEntryKey(record.value.delivery)}`;
    this.#positions.set(record, position);
    return record.sequence <= (this.#counted.get(position) ?? 0);
  }
}
