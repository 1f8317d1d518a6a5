import { type DeliveryRef, toDeliveryMessage } from '../../functions/domain/delivery.ts';
import type { DueEntry, DueState } from '../../functions/domain/due.ts';
import type { DeliveryStreamPorts } from '../../functions/engine/delivery-stream.ts';
import type { ReconcilePorts } from '../../functions/engine/reconcile.ts';
import { keys } from '../../functions/store/keys.ts';
import type { MemoryDeliveries } from './memory-deliveries.ts';

type Position = Record<string, unknown>;

/** Entries of a page, as in the table's index. */
const PAGE = 100;

/** By time; those of one time in some order. */
const placeOf = ({ dueAt, message: reminder }: DueEntry): string => `${dueAt}/${reminder.id}`;

/** The due index of deliveries in memory, in all shards or in one. */
export class MemoryDueIndex {
  readonly #deliveries: MemoryDeliveries;
  readonly #sharded: boolean;
  readonly #pageSize: number;

  constructor(
    deliveries: MemoryDeliveries,
    { sharded, pageSize = PAGE }: { sharded: boolean; pageSize?: number },
  ) {
    this.#deliveries = deliveries;
    this.#sharded = sharded;
    this.#pageSize = pageSize;
  }

  readonly watch: DeliveryStreamPorts['due']['watch'] = async (ref, dueAt) =>
    this.#deliveries.moveDue(ref, undefined, { state: 'watched', dueAt: dueAt.toISOString() });

  readonly postpone: ReconcilePorts['due']['postpone'] = async (
    { message: reminder, state, dueAt },
    until,
    reason = 'sent',
  ) => {
    const to = { state: 'watched', dueAt: until.toISOString() } as const;
    const isDeferred = reason === 'deferred' ? { isDeferred: true as const } : {};
    this.#deliveries.moveDue(reminder, { state, dueAt }, { ...to, ...isDeferred });
  };

  async expire({ message: reminder, state, dueAt }: DueEntry, now: Date): Promise<'done' | 'refused'> {
    const due = this.#deliveries.dueOf(reminder);
    if (due?.state !== state || due.dueAt !== dueAt) return 'refused';
    return this.#deliveries.skip(reminder, 'expired', now);
  }

  async find(
    state: DueState,
    shard: number,
    until: Date,
    after?: Position,
  ): Promise<{ entries: DueEntry[]; next?: Position }> {
    const entries = this.#deliveries.due
      .filter(
        ({ delivery, due }) =>
          due.state === state && due.dueAt <= until.toISOString() && this.#isIn(delivery, state, shard),
      )
      .map(({ delivery, due }) => ({ message: toDeliveryMessage(delivery), ...due }))
      .filter((entry) => after === undefined || placeOf(entry) > String(after.place))
      .toSorted((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1));
    const page = entries.slice(0, this.#pageSize);
    const last = page.at(-1);
    return {
      entries: page,
      ...(last === undefined || page.length === entries.length ? {} : { next: { place: placeOf(last) } }),
    };
  }

  #isIn({ id }: DeliveryRef, state: DueState, shard: number): boolean {
    return this.#sharded ? keys.dueOf(state, id) === keys.due(state, shard) : shard === 0;
  }
}
