import * as z from 'zod/mini';
import type { Delivery, TerminalReason } from '../../delivery/delivery.ts';
import { findExclusion, isExample, type OutboxEvent } from '../../events/events.ts';
import type { DeletedEndpoint, Endpoint } from '../../receivers/endpoint.ts';

/** Why an endpoint did not get an event (docs/specification.md, Events). */
export const Undelivered = z.enum([
  'not_subscribed',
  'filtered',
  'registered_later',
  'paused',
  'disabled',
  'deleted',
  'example_for_another',
]);
export type Undelivered = z.infer<typeof Undelivered>;

const BY_END: Partial<Record<TerminalReason, Undelivered>> = {
  endpoint_paused: 'paused',
  endpoint_disabled: 'disabled',
  endpoint_deleted: 'deleted',
};

/**
 * Explains why an endpoint got no attempt of an event.
 * @param endpoint as it is now; its settings may have been others when the event happened
 * @param delivery of the event to the endpoint
 * @param isFannedOut whether an endpoint that the event is for has its delivery by now
 * @returns undefined when it got one, when its delivery is on the way, and for another endpoint's test
 */
export function explainAbsence(
  event: OutboxEvent,
  endpoint: Endpoint | DeletedEndpoint,
  delivery: Pick<Delivery, 'status' | 'attempts' | 'terminalReason'> | undefined,
  isFannedOut: boolean,
): Undelivered | undefined {
  const exclusion = findExclusion(event, { events: [], ...endpoint });
  if (delivery !== undefined) {
    const { status, attempts, terminalReason = 'expired' } = delivery;
    if (status !== 'skipped' || attempts > 0) return undefined;
    if (terminalReason === 'not_subscribed') return exclusion === 'filtered' ? 'filtered' : 'not_subscribed';
    return BY_END[terminalReason];
  }
  if (exclusion === 'for_another') return isExample(event) ? 'example_for_another' : undefined;
  if (endpoint.createdAt > event.createdAt) return 'registered_later';
  if ('deletedAt' in endpoint && endpoint.deletedAt <= event.createdAt) return 'deleted';
  // It was not subscribed when the event happened.
  if (exclusion === undefined) return isFannedOut ? 'not_subscribed' : undefined;
  return exclusion;
}
