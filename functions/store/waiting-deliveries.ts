import type { DeliveryRef } from '../domain/delivery.ts';
import { DELIVERY_SHARDS, deliveriesBetween, keys, shards } from './keys.ts';
import { openAmong, type ReadBudget } from './open-deliveries.ts';
import type { Table } from './table.ts';

/**
 * Rows of a shard that are looked at, the newest ones: while a receiver takes nothing they are open, and an endpoint that is owed little has
 * no others.
 */
const EXAMINED = 10;

/**
 * Since when a delivery to an endpoint waits: the time of the oldest open one among the newest of a time, eventually consistent; null when
 * none of these is open, or the budget is used up. Older ones may have waited for longer.
 * @param from and `to`, by the time that identifiers carry
 */
export function waitingDeliveries(deliveries: Table) {
  return async (
    { webhookId, generation }: Pick<DeliveryRef, 'webhookId' | 'generation'>,
    from: Date,
    to: Date,
    budget: ReadBudget,
  ): Promise<string | null> => {
    if (budget.units <= 0) return null;
    const range = deliveriesBetween(from, to);
    const found = await Promise.all(
      shards(DELIVERY_SHARDS).map((shard) =>
        openAmong(deliveries, {
          pk: keys.deliveries(webhookId, generation, shard),
          range,
          limit: EXAMINED,
          newestFirst: true,
          budget,
        }),
      ),
    );
    const times = found.flatMap(({ open }) => open.map(({ createdAt }) => createdAt));
    return times.sort()[0] ?? null;
  };
}
