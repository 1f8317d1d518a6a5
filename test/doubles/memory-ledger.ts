import {
  addCounts,
  addDurations,
  type HourRange,
  type LedgerCounts,
  type LedgerEntry,
  NO_COUNTS,
} from '../../functions/delivery/ledger.ts';
import type { AuditLedgerPorts, DeliveryStreamPorts } from '../../functions/delivery/ledger-updates.ts';
import { keys } from '../../functions/tenancy/keys.ts';

/** The ledger in memory. An addition takes effect at once, or not at all. */
export class MemoryLedger {
  /** The position up to which each shard was counted in each entry. */
  readonly #counted = new Map<string, string>();
  readonly #entries = new Map<string, LedgerEntry>();

  get every(): LedgerEntry[] {
    return [...this.#entries.values()];
  }

  readonly add: DeliveryStreamPorts['ledger']['add'] = async ({ shardId, first, last }, entry) => {
    const position = `${shardId}/${rowKey(entry)}`;
    const countedTo = this.#counted.get(position);
    if (countedTo !== undefined && BigInt(countedTo) >= BigInt(first)) return { countedTo };
    this.#counted.set(position, last);
    const { orgId, webhookId, generation, hour } = entry;
    const before = this.#entries.get(rowKey(entry));
    const counts = addCounts(before ?? NO_COUNTS, entry);
    const sum = addDurations(before?.durations, entry.durations);
    const durations = Object.keys(sum).length > 0 && { durations: sum };
    this.#entries.set(rowKey(entry), { ...counts, ...durations, orgId, webhookId, generation, hour });
    return 'added';
  };

  readonly inHour: AuditLedgerPorts['ledger']['inHour'] = async (hour, shard) => ({
    entries: this.every.filter(
      (entry) =>
        entry.hour === hour &&
        keys.active(entry.webhookId, entry.generation, hour).pk === keys.activeInDay(hour, shard),
    ),
  });

  /** Deletes an entry, as a purge does, with its positions. */
  remove(entry: Pick<LedgerEntry, 'webhookId' | 'generation' | 'hour'>): void {
    this.#entries.delete(rowKey(entry));
    for (const position of this.#counted.keys())
      if (position.endsWith(`/${rowKey(entry)}`)) this.#counted.delete(position);
  }

  async correct(seen: LedgerEntry, counts: LedgerCounts): Promise<'corrected' | 'changed'> {
    const present = this.#entries.get(rowKey(seen));
    if (present === undefined || !isSame(present, seen)) return 'changed';
    this.#entries.set(rowKey(seen), { ...present, ...counts });
    return 'corrected';
  }

  async read(
    webhookId: LedgerEntry['webhookId'],
    generation: number,
    { first, last }: HourRange,
  ): Promise<LedgerEntry[]> {
    return this.every.filter(
      (entry) =>
        entry.webhookId === webhookId &&
        entry.generation === generation &&
        entry.hour >= first &&
        entry.hour <= last,
    );
  }
}

const rowKey = ({
  webhookId,
  generation,
  hour,
}: Pick<LedgerEntry, 'webhookId' | 'generation' | 'hour'>): string => `${webhookId}/${generation}/${hour}`;

const isSame = (a: LedgerCounts, b: LedgerCounts): boolean =>
  JSON.stringify(addCounts(NO_COUNTS, a)) === JSON.stringify(addCounts(NO_COUNTS, b));
