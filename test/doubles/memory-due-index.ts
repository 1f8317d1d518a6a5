import { type DeliveryRef, reminderOf, type SkipReason } from '../../functions/domain/delivery.ts';
import type { DueEntry, DueState } from '../../functions/domain/due.ts';
import type { ReconcilePorts } from '../../functions/engine/reconcile.ts';
import type { WatchPorts } from '../../functions/engine/watch.ts';
import { keys } from '../../functions/store/keys.ts';
import type { MemoryDeliveries } from './memory-deliveries.ts';

/** The due index of deliveries in memory, in as many shards as there are, or in one. */
export class MemoryDueIndex {
  readonly #deliveries: MemoryDeliveries;
  readonly #sharded: boolean;

  constructor(deliveries: MemoryDeliveries, { sharded }: { sharded: boolean }) {
    this.#deliveries = deliveries;
    this.#sharded = sharded;
  }

  readonly watch: WatchPorts['due']['watch'] = async (ref, dueAt) =>
    this.#deliveries.moveDue(ref, undefined, { state: 'watched', dueAt: dueAt.toISOString() });

  readonly postpone: ReconcilePorts['due']['postpone'] = async ({ reminder, state, dueAt }, until) =>
    this.#deliveries.moveDue(reminder, { state, dueAt }, { state: 'watched', dueAt: until.toISOString() });

  skip(ref: DeliveryRef, reason: SkipReason, now: Date): Promise<'done' | 'refused'> {
    return this.#deliveries.skip(ref, reason, now);
  }

  async find(state: DueState, shard: number, until: Date): Promise<{ entries: DueEntry[] }> {
    const entries = this.#deliveries.due
      .filter(
        ({ delivery, due }) =>
          due.state === state && due.dueAt <= until.toISOString() && this.#isIn(delivery, state, shard),
      )
      .map(({ delivery, due }) => ({ reminder: reminderOf(delivery), ...due }))
      .toSorted((a, b) => (a.dueAt < b.dueAt ? -1 : 1));
    return { entries };
  }

  #isIn({ id }: DeliveryRef, state: DueState, shard: number): boolean {
    return this.#sharded ? keys.dueOf(state, id) === keys.due(state, shard) : shard === 0;
  }
}
