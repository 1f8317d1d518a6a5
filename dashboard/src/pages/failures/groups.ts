import type { Delivery } from '../../api/webhooks.ts';
import { fingerprintOf, messageIn } from './fingerprint.ts';

/** A failed or retrying delivery as it is listed. */
export type FailedDelivery = Pick<
  Delivery,
  | 'id'
  | 'webhookId'
  | 'eventId'
  | 'eventType'
  | 'status'
  | 'createdAt'
  | 'lastError'
  | 'lastErrorCode'
  | 'lastResponseStatus'
  | 'lastResponse'
>;

/** Deliveries that failed for the same reason. */
export interface FailureGroup {
  key: string;
  /** Of the response; null without one. */
  status: number | null;
  /** What their responses have in common; empty where they had no text, or there was none. */
  cause: string;
  /** The message of the newest response, as the receiver wrote it. */
  example: string;
  /** Newest first. */
  deliveries: FailedDelivery[];
  /** Times of the first and the last event. */
  firstAt: string;
  lastAt: string;
  /** Endpoints by the number of deliveries. */
  endpoints: { id: string; count: number }[];
}

const messageOf = ({ lastResponse }: FailedDelivery): string => messageIn(lastResponse ?? '');

/**
 * Groups deliveries by the code of their error, status and message of the response, the largest group first.
 * A delivery that is given twice counts once.
 */
export function groupFailures(deliveries: readonly FailedDelivery[]): FailureGroup[] {
  const known = [...new Map(deliveries.map((delivery) => [delivery.id, delivery])).values()];
  const groups = Map.groupBy(known, (delivery) =>
    JSON.stringify([delivery.lastErrorCode, delivery.lastResponseStatus, fingerprintOf(messageOf(delivery))]),
  );
  return [...groups]
    .map(([key, members]) => groupOf(key, members))
    .sort((one, other) => other.deliveries.length - one.deliveries.length || (one.key < other.key ? -1 : 1));
}

function groupOf(key: string, members: readonly FailedDelivery[]): FailureGroup {
  const deliveries = members.toSorted((one, other) => (one.id > other.id ? -1 : 1));
  const [newest] = deliveries;
  const reason = newest === undefined ? '' : messageOf(newest);
  const counts = Map.groupBy(deliveries, ({ webhookId }) => webhookId);
  return {
    key,
    status: newest?.lastResponseStatus ?? null,
    cause: fingerprintOf(reason),
    example: reason,
    deliveries,
    firstAt: deliveries.at(-1)?.createdAt ?? '',
    lastAt: newest?.createdAt ?? '',
    endpoints: [...counts]
      .map(([id, of]) => ({ id, count: of.length }))
      .sort((one, other) => other.count - one.count || (one.id < other.id ? -1 : 1)),
  };
}

/** An event to resend to an endpoint: the newest of its deliveries in the group. */
export type Target = Pick<FailedDelivery, 'id' | 'webhookId' | 'eventId' | 'status'>;

/**
 * What "Resend this group" sends: each event once to each endpoint.
 * @param isOpen whether an endpoint takes deliveries; a disabled one does not
 */
export function planResend(
  { deliveries }: Pick<FailureGroup, 'deliveries'>,
  isOpen: (webhookId: string) => boolean,
): { targets: Target[]; left: number } {
  const newest = new Map<string, Target>();
  for (const { id, webhookId, eventId, status } of deliveries) {
    const place = `${webhookId} ${eventId}`;
    const known = newest.get(place);
    if (known === undefined || known.id < id) newest.set(place, { id, webhookId, eventId, status });
  }
  const all = [...newest.values()].sort((one, other) => (one.id < other.id ? -1 : 1));
  const targets = all.filter(({ webhookId }) => isOpen(webhookId));
  return { targets, left: all.length - targets.length };
}
