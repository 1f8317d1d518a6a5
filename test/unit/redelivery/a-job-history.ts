import fc from 'fast-check';
import { expect } from 'vitest';
import { deriveJobDeliveryId, type EventId } from '../../../functions/aws/ids.ts';
import type { DeliveryStatus } from '../../../functions/delivery/delivery.ts';
import type { RedeliveryJob } from '../../../functions/redelivery/jobs.ts';
import { later, NOW, seconds } from '../../builders.ts';
import type { TestRedelivery } from '../delivery/a-redelivery.ts';

/** A delivery of the last hour: how it ended, and whether its event failed again later. */
export const past = fc.record({
  status: fc.constantFrom<DeliveryStatus>('exhausted', 'skipped', 'succeeded', 'retrying'),
  secondsAgo: fc.integer({ min: 1, max: 3599 }),
  again: fc.option(fc.integer({ min: 1, max: 3000 }), { nil: undefined }),
});
export type Past = typeof past extends fc.Arbitrary<infer P> ? P : never;

/** Stores the deliveries. @returns the events that a job has to resend */
export async function lived({ had }: TestRedelivery, history: readonly Past[]): Promise<Set<EventId>> {
  const eventIds = new Set<EventId>();
  for (const { status, secondsAgo, again } of history) {
    const { eventId, webhookId } = await had(status, secondsAgo);
    if (status === 'exhausted' || status === 'skipped') eventIds.add(eventId);
    if (again === undefined) continue;
    const id = deriveJobDeliveryId(eventId, webhookId, later(NOW, -seconds(Math.min(again, secondsAgo)) + 1));
    await had('exhausted', 0, { eventId, id });
    eventIds.add(eventId);
  }
  return eventIds;
}

/**
 * Checks the state after a job has ended, independent of which worker ended it and how often it was tried.
 */
export async function expectDone(
  { made, job, runs, reminded }: TestRedelivery,
  order: RedeliveryJob,
  eventIds: ReadonlySet<EventId>,
  history: readonly Past[],
) {
  const found = await made(order);
  expect(found.map(({ eventId }) => eventId).toSorted()).toEqual([...eventIds].toSorted());
  const ids = new Set(reminded.map(({ id }) => id));
  expect(found.filter(({ id }) => !ids.has(id))).toEqual([]);
  const examined = history.length + history.filter(({ again }) => again !== undefined).length;
  expect(await job(order)).toMatchObject({ status: 'done', redelivered: eventIds.size, examined });
  expect(await runs()).toEqual([]);
}
