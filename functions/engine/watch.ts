import type { DeliveryRef } from '../domain/delivery.ts';
import { type DeliveryChange, type LedgerEntry, tally } from '../domain/ledger.ts';
import { mapConcurrently } from './concurrency.ts';
import type { Log } from './log.ts';

/** A change of a delivery with its place in its shard of the stream. */
export interface SequencedChange extends DeliveryChange {
  /** Decimal digits without leading zeros. */
  sequence: string;
}

export interface WatchPorts {
  due: { watch(ref: DeliveryRef, dueAt: Date): Promise<void> };
  ledger: {
    position(shardId: string): Promise<string | undefined>;
    add(
      step: { shardId: string; from: string | undefined; to: string },
      entries: readonly LedgerEntry[],
    ): Promise<'added' | 'moved'>;
  };
  log: Log;
  now: () => Date;
}

/** Endpoints and hours in one step of the ledger; a transaction holds 100 writes, and one is the position's. */
const MOST_ENTRIES = 90;
/** How often a step is begun anew because another run of the same shard was there first. */
const MAX_STEPS = 10;
/** Updates under way at once. */
const CONCURRENCY = 16;

/**
 * Follows the stream of the deliveries. Of what was added and has not ended within the same batch, it puts each into the due index, so that a lost
 * message is noticed; most end within it and cost nothing. Then it counts what happened, each record once however often it is read.
 * @param graceSeconds how late a delivery may be before its message counts as lost
 */
export function watch({ due, ledger, log, now }: WatchPorts, { graceSeconds }: { graceSeconds: number }) {
  /**
   * Counts what is beyond the shard's position. A position that moved meanwhile means that somebody counted a part of it.
   * @returns the position that the count has come to
   */
  async function countFrom(shardId: string, changes: readonly SequencedChange[]): Promise<void> {
    for (let step = 1; step <= MAX_STEPS; step += 1) {
      const from = await ledger.position(shardId);
      const uncounted = changes.filter(({ sequence }) => from === undefined || isAfter(sequence, from));
      const part = countable(uncounted);
      const last = part.at(-1);
      if (last === undefined) return;
      const result = await ledger.add({ shardId, from, to: last.sequence }, tally(part));
      if (result === 'added' && part.length === uncounted.length) return;
      // A long batch takes several steps, which are none of the failures that this loop bounds.
      if (result === 'added') step = 0;
    }
    throw new Error(`the ledger's position in ${shardId} moved ${MAX_STEPS} times`);
  }

  return async (shardId: string, changes: readonly SequencedChange[]): Promise<void> => {
    const ended = new Set(changes.filter(({ kind }) => kind === 'ended').map(({ delivery }) => delivery.id));
    const open = changes.filter(
      ({ kind, delivery }) => kind === 'added' && delivery.status === 'pending' && !ended.has(delivery.id),
    );
    const dueAt = new Date(now().getTime() + graceSeconds * 1000);
    await mapConcurrently(open, CONCURRENCY, ({ delivery }) => due.watch(delivery, dueAt));
    await countFrom(shardId, changes);
    if (open.length > 0) log.debug('deliveries are watched', { count: open.length });
  };
}

/** Sequence numbers have up to 40 digits. */
const isAfter = (a: string, b: string): boolean => BigInt(a) > BigInt(b);

/** The longest beginning that fits one step. */
function countable(changes: readonly SequencedChange[]): readonly SequencedChange[] {
  if (tally(changes).length <= MOST_ENTRIES) return changes;
  let fitting = changes;
  while (tally(fitting).length > MOST_ENTRIES) fitting = fitting.slice(0, Math.ceil(fitting.length / 2));
  return fitting;
}
