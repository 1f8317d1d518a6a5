import { ChannelId, type OrgId, type ReceiverId } from '../aws/ids.ts';
import type { Delivery } from '../delivery/delivery.ts';
import { getNamedReceiver, isFor, type OutboxEvent, SubscribableType } from '../events/events.ts';
import type { Endpoint } from '../receivers/endpoint.ts';
import { endpointStore } from '../receivers/endpoints.ts';
import { withDueTime } from './deliveries.ts';
import { tables } from './route-handler.ts';

export const endpoints = endpointStore(tables.service);

/** Deleted endpoints that are read at most: each may have had a delivery. */
const MAX_DELETED = 50;

/** A receiver that may have a delivery of an event. */
export interface Receiver {
  id: ReceiverId;
  /** Unknown for a deleted channel. */
  url?: string;
  receiverStatus: Endpoint['status'] | 'deleted';
  deletedAt?: string;
}

const isChannel = (id: ReceiverId | undefined): id is ReceiverId => ChannelId.safeParse(id).success;

/** Whether the event's only receiver is a channel, so that endpoints do not matter. */
export const isForChannel = (event: OutboxEvent): boolean => isChannel(getNamedReceiver(event));

const toReceiver = ({ id, url, status }: Endpoint): Receiver => ({ id, url, receiverStatus: status });

/**
 * Finds the receivers that may have a delivery. Deliveries are found by their derived ids, so receivers that
 * were deleted since are needed as well. They are read last: an endpoint that is deleted meanwhile is in both
 * lists, and never in none.
 * @param existing all endpoints, read before
 * @returns the receivers of one of the events
 */
export async function findReceivers(
  orgId: OrgId,
  events: readonly OutboxEvent[],
  existing: readonly Endpoint[],
): Promise<(event: OutboxEvent) => Receiver[]> {
  const channels = await findChannels(orgId, events);
  const [oldest] = events
    .filter((event) => !isForChannel(event))
    .map(({ createdAt }) => createdAt)
    .toSorted();
  const deleted = oldest === undefined ? [] : await endpoints.deletedSince(orgId, oldest, MAX_DELETED);
  const all: Receiver[] = [
    ...existing.map(toReceiver),
    ...deleted.map(({ id, url, deletedAt }) => ({ id, url, receiverStatus: 'deleted' as const, deletedAt })),
  ];
  const byId = new Map(all.map((receiver) => [receiver.id, receiver]));
  return (event) => {
    const only = getNamedReceiver(event);
    if (isChannel(only)) return [channels.get(only) ?? { id: only, receiverStatus: 'deleted' }];
    // An endpoint may have subscribed to any type when the event happened.
    return [...byId.values()].filter(
      ({ id, deletedAt }) =>
        isFor(event, { id, events: SubscribableType.options }) &&
        (deletedAt === undefined || deletedAt >= event.createdAt),
    );
  };
}

async function findChannels(
  orgId: OrgId,
  events: readonly OutboxEvent[],
): Promise<ReadonlyMap<ReceiverId, Receiver>> {
  const ids = new Set(events.map(getNamedReceiver).filter(isChannel));
  const found = await Promise.all([...ids].map((id) => endpoints.find(orgId, id)));
  return new Map(found.flatMap((channel) => (channel ? [[channel.id, toReceiver(channel)]] : [])));
}

/** Returns a delivery as events show it, without its attempts. */
export function toSummary(found: Delivery, receiver: Receiver | undefined, now: Date) {
  const { webhookId, attemptLog, ...delivery } = withDueTime(found, now);
  return {
    ...delivery,
    ...(ChannelId.safeParse(webhookId).success ? { channelId: webhookId } : { webhookId }),
    url: receiver?.url,
    receiverStatus: receiver?.receiverStatus,
  };
}
