import { expression, isOneOf } from '../aws/expression.ts';
import { buildIdBounds } from '../aws/ids.ts';
import { query, readRows, type Table } from '../aws/table.ts';
import { DELIVERY_SHARDS, keys, listShards } from '../tenancy/keys.ts';
import { type Delivery, type DeliveryRef, OPEN_STATUSES } from './delivery.ts';
import { parseDelivery } from './rows.ts';
import { type RetryPolicy, scheduleNextAttempt } from './timing.ts';

/** Rows to examine per shard. While an endpoint fails, almost all rows since then are open. */
const EXAMINED_ROWS = { oldest: 200, newest: 25 };

/**
 * Reads the open deliveries among the oldest or newest rows of a time range, eventually consistent.
 * @param budget read units left; each read subtracts what it consumed, and none starts at zero
 */
export function openDeliveries(deliveries: Table) {
  return async (
    { webhookId, generation }: Pick<DeliveryRef, 'webhookId' | 'generation'>,
    [from, to]: [Date, Date],
    which: keyof typeof EXAMINED_ROWS,
    budget: { units: number },
  ): Promise<Delivery[]> => {
    const [first, last] = buildIdBounds(from, to);
    if (first > last || budget.units <= 0) return [];
    const ofShards = listShards(DELIVERY_SHARDS).map(async (shard) => {
      const { rows, units = 0 } = await query(deliveries, {
        where: expression`pk = ${keys.deliveries(webhookId, generation, shard)} AND sk BETWEEN ${first} AND ${last}`,
        filter: isOneOf('status', OPEN_STATUSES),
        consistent: false,
        newestFirst: which === 'newest',
        limit: EXAMINED_ROWS[which],
      });
      budget.units -= units;
      return readRows(deliveries, rows, parseDelivery);
    });
    return (await Promise.all(ofShards)).flat();
  };
}

export type OpenDelivery = Pick<Delivery, 'status' | 'createdAt' | 'attempts' | 'nextRetryAt' | 'lease'>;

/** When an open delivery will be exhausted if every further attempt fails at once. Not before `now`. */
export function predictExhaustion(delivery: OpenDelivery, policy: RetryPolicy, now: Date): Date {
  const { createdAt, attempts, nextRetryAt = createdAt, lease } = delivery;
  let at = new Date(Math.max(now.getTime(), Date.parse(nextRetryAt)));
  for (let number = lease ? attempts : attempts + 1; number < policy.maxAttempts; number += 1)
    at = scheduleNextAttempt(number, at, policy);
  return at;
}

/** Factor by which retries may be late. */
const LATENESS = 1.1;

/** Earliest creation time of a delivery that is open now, if attempts start about when they are due. */
export function computeOldestOpenTime(policy: RetryPolicy, attemptSeconds: number, now: Date): Date {
  const unsent: OpenDelivery = { status: 'pending', createdAt: now.toISOString(), attempts: 0 };
  const end = predictExhaustion(unsent, policy, now);
  const spanMs = end.getTime() - now.getTime() + policy.maxAttempts * attemptSeconds * 1000;
  return new Date(now.getTime() - spanMs * LATENESS);
}

/** A delivery that is open for longer waits. One whose attempt has failed waits at once. */
const WAITING_MS = 60_000;

/**
 * Estimates since when deliveries wait, and when `failures` of them will have failed if none succeeds.
 * @returns null for none, or for too few
 */
export function estimateWaits(
  open: readonly OpenDelivery[],
  failures: number,
  policy: RetryPolicy,
  now: Date,
) {
  const old = new Date(now.getTime() - WAITING_MS).toISOString();
  const waiting = open.filter(({ status, createdAt }) => status === 'retrying' || createdAt < old);
  const [waitingSince = null] = waiting.map(({ createdAt }) => createdAt).sort();
  const ends = open.map((delivery) => predictExhaustion(delivery, policy, now).toISOString()).sort();
  return { waitingSince, disablesAt: ends[failures - 1] ?? null };
}
