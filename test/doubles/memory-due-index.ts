import { type DeliveryRef, toDeliveryMessage } from '../../functions/delivery/delivery.ts';
import type { DueEntry, DueRange } from '../../functions/delivery/delivery-rows.ts';
import type { DeliveryStreamPorts } from '../../functions/delivery/ledger-updates.ts';
import type { ReconcilePorts } from '../../functions/delivery/reconcile.ts';
import type { DueState } from '../../functions/tenancy/keys.ts';
import { keys } from '../../functions/tenancy/keys.ts';
import type { MemoryDeliveries } from './memory-deliveries.ts';

/** Entries of a page, and of an organization on a page of all, as in the table's index. */
const PAGE = 100;
const SHARE = 10;

/** By organization and time; those of one time in some order. */
const placeOf = ({ dueAt, message: deliveryMessage }: DueEntry): string =>
  `${deliveryMessage.orgId}#${dueAt}/${deliveryMessage.id}`;

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
    { message: deliveryMessage, state, dueAt },
    until,
    reason = 'sent',
  ) => {
    const to = { state: 'watched', dueAt: until.toISOString() } as const;
    const isDeferred = reason === 'deferred' ? { isDeferred: true as const } : {};
    this.#deliveries.moveDue(deliveryMessage, { state, dueAt }, { ...to, ...isDeferred });
  };

  async expire({ message: deliveryMessage, state, dueAt }: DueEntry, now: Date): Promise<'done' | 'refused'> {
    const due = this.#deliveries.dueOf(deliveryMessage);
    if (due?.state !== state || due.dueAt !== dueAt) return 'refused';
    return this.#deliveries.skip(deliveryMessage, 'expired', now);
  }

  async find(
    state: DueState,
    shard: number,
    until: Date,
    position?: DueRange,
  ): ReturnType<ReconcilePorts['due']['find']> {
    const after = position?.first ?? '';
    const of = position?.isOfOne ? position.last : undefined;
    const entries = this.#deliveries.due
      .filter(
        ({ delivery, due }) =>
          due.state === state && due.dueAt <= until.toISOString() && this.#isIn(delivery, state, shard),
      )
      .map(({ delivery, due }) => ({ message: toDeliveryMessage(delivery), ...due }))
      .filter((entry) => placeOf(entry) > after && entry.message.orgId.startsWith(of ?? ''))
      .toSorted((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1));
    const page: DueEntry[] = [];
    const more: DueRange[] = [];
    for (const [orgId, own] of Map.groupBy(entries, ({ message: { orgId } }) => orgId)) {
      const rest = this.#pageSize - page.length;
      if (rest <= 0)
        return {
          entries: page,
          unreadable: [],
          more,
          next: { first: placeBefore(own), last: '', isOfOne: false },
        };
      const share = own.slice(0, of === undefined ? Math.min(rest, SHARE) : rest);
      page.push(...share);
      const last = share.at(-1);
      if (last !== undefined && share.length < own.length)
        more.push({ first: placeOf(last), last: orgId, isOfOne: true });
    }
    return { entries: page, unreadable: [], more };
  }

  #isIn({ id }: DeliveryRef, state: DueState, shard: number): boolean {
    return this.#sharded ? keys.dueOf(state, id) === keys.due(state, shard) : shard === 0;
  }
}

/** A place before those of an organization's entries, and after those of the organizations before it. */
const placeBefore = ([first]: readonly DueEntry[]): string => `${first?.message.orgId}#`;
