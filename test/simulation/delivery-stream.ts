import type { VirtualClock } from 'aws-local/test/virtual-clock.ts';
import type { DeliveryId } from '../../functions/aws/ids.ts';
import type { Delivery } from '../../functions/delivery/delivery.ts';
import { buildEntryKey, type LedgerEntry } from '../../functions/delivery/ledger.ts';
import { type StreamRecord, StreamShard } from './stream-shard.ts';

/** A change that the stream's filter lets through (`lib/infra/recovery.ts`). */
export interface Change {
  kind: 'added' | 'ended';
  delivery: Delivery;
}

/** The stream of the deliveries' table, and how far the ledger has counted it. */
export class DeliveryStream {
  readonly shards: readonly StreamShard<Change>[];
  readonly #clock: VirtualClock;
  readonly #additions = new Map<DeliveryId, { shardId: string; record: StreamRecord<Change> }>();
  /** Positions up to which each shard was counted, by entry. */
  readonly #counted = new Map<string, number>();
  /** The entry under which each record is counted. */
  readonly #positions = new Map<StreamRecord<Change>, string>();
  /** Records that are not counted: their data was deleted by a reset, or their tenant was not found. */
  readonly #dropped = new Set<StreamRecord<Change>>();
  #longestLagMs = 0;

  constructor(clock: VirtualClock, shards: number) {
    this.#clock = clock;
    this.shards = Array.from({ length: shards }, (_, shard) => new StreamShard(`deliveries-${shard}`));
  }

  /** Takes over a change of the table. */
  write(change: Change): void {
    const { id } = change.delivery;
    const shard = this.shards[Number.parseInt(id.at(-1) ?? '0', 16) % this.shards.length];
    if (shard === undefined) return;
    const record = shard.write(change, this.#clock.ms);
    if (change.kind === 'added') this.#additions.set(id, { shardId: shard.id, record });
  }

  /** The ledger has counted a shard up to a position in one of its entries. */
  countedTo(
    shardId: string,
    { webhookId, generation, hour }: Pick<LedgerEntry, 'webhookId' | 'generation' | 'hour'>,
    sequence: number,
  ): void {
    this.noteLag();
    this.#counted.set(`${shardId}/${webhookId}#${generation}#${hour}`, sequence);
  }

  /** The ledger will not count the record. */
  drop(record: StreamRecord<Change>): void {
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

  #isCounted(shardId: string, record: StreamRecord<Change>): boolean {
    const position = this.#positions.get(record) ?? `${shardId}/${buildEntryKey(record.value.delivery)}`;
    this.#positions.set(record, position);
    return record.sequence <= (this.#counted.get(position) ?? 0);
  }
}
