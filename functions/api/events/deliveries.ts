import { deriveDeliveryId, isChannelId, type OrgId, type ReceiverId } from '../../aws/ids.ts';
import type { Page } from '../../aws/pages.ts';
import { BATCH } from '../../aws/table.ts';
import type { Delivery } from '../../delivery/delivery.ts';
import { redeliveryRecords } from '../../delivery/redelivery.ts';
import {
  EVENT_CATALOGUE,
  type EventType,
  EventTypeName,
  getNamedReceiver,
  isFor,
  type OutboxEvent,
  SubscribableType,
} from '../../events/events.ts';
import type { Endpoint } from '../../receivers/endpoint.ts';
import type { Scope } from '../../tenancy/api-keys.ts';
import type { Tenant } from '../../tenancy/tenant.ts';
import { withDueTime } from '../deliveries.ts';
import { cutPage } from '../pages.ts';
import { nameReceiver } from '../receivers.ts';
import { tables } from '../route-handler.ts';
import { deliveries, endpoints } from '../stores.ts';

export const findRedeliveryRecords = redeliveryRecords(tables.service);

/**
 * Narrows event types to those that the caller may see. Events for a channel have the text of a message,
 * which `read:webhooks` alone must not show.
 * @param wanted undefined for all types
 * @returns undefined when that is no restriction
 */
export function narrowToVisible(
  wanted: readonly EventType[] | undefined,
  allows: (scope: Scope) => boolean,
): readonly EventType[] | undefined {
  const types = wanted ?? EventTypeName.options;
  const mayReadMessages = allows('read:conversations');
  const visible = types.filter((type) => mayReadMessages || EVENT_CATALOGUE[type].sentTo !== 'channel');
  return visible.length === EventTypeName.options.length ? undefined : visible;
}

/** Deleted endpoints that are read at most: each may have had a delivery. */
export const MAX_DELETED = 50;

/** A receiver that may have a delivery of an event. */
export interface Receiver {
  id: ReceiverId;
  /** Unknown for a deleted channel. */
  url?: string;
  receiverStatus: Endpoint['status'] | 'deleted';
  deletedAt?: string;
}

/** Whether the event's only receiver is a channel, so that endpoints do not matter. */
export const isForChannel = (event: OutboxEvent): boolean => isChannelId(getNamedReceiver(event));

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
    if (isChannelId(only)) return [channels.get(only) ?? { id: only, receiverStatus: 'deleted' }];
    // An endpoint may have subscribed to any type when the event happened.
    return [...byId.values()].filter(
      ({ id, deletedAt }) =>
        isFor(event, { id, events: SubscribableType.options }) &&
        (deletedAt === undefined || deletedAt >= event.createdAt),
    );
  };
}

async function findChannels(orgId: OrgId, events: readonly OutboxEvent[]) {
  const ids = new Set(events.map(getNamedReceiver).filter(isChannelId));
  const channels = await Promise.all([...ids].map((id) => endpoints.find(orgId, id)));
  return new Map(channels.filter((channel) => !!channel).map((channel) => [channel.id, toReceiver(channel)]));
}

/** Returns a delivery as events show it, without its attempts. */
export function toSummary(stored: Delivery, receiver: Receiver | undefined, now: Date) {
  const { attemptLog, ...delivery } = withDueTime(stored, now);
  return {
    ...nameReceiver(delivery),
    url: receiver?.url,
    receiverStatus: receiver?.receiverStatus,
  };
}

/** Possible deliveries, one for each event and receiver, that are read for a page. */
const MAX_PAIRS = 400;
/** Size of the stored deliveries after which a page ends: those of sandboxes are up to 64 KB each. */
const MAX_BYTES = 1_000_000;

type EventWithSummaries = OutboxEvent & { deliveries: ReturnType<typeof toSummary>[] };

/**
 * Reads a page of events with the deliveries of each.
 * @param read returns a page of up to so many events
 * @param limit of the page, which ends early where the organization has many receivers or large deliveries
 */
export async function withDeliveries(
  tenant: Tenant,
  { limit, now }: { limit: number; now: Date },
  read: (limit: number) => Promise<Page<OutboxEvent>>,
): Promise<Page<EventWithSummaries>> {
  const existing = await endpoints.all(tenant.orgId);
  const fitting = Math.floor(MAX_PAIRS / Math.max(1, existing.length));
  const page = await read(Math.min(limit, fitting));
  const receiversOf = await findReceivers(tenant.orgId, page.items, existing);
  const items: EventWithSummaries[] = [];
  for (
    let pairs = 0, bytes = 0;
    items.length < page.items.length && pairs < MAX_PAIRS && bytes < MAX_BYTES;
  ) {
    const part = takeBatch(page.items.slice(items.length), receiversOf);
    const summaries = await readSummaries(tenant, part, now);
    items.push(...summaries.items);
    pairs += part.reduce((sum, { receivers }) => sum + receivers.length, 0);
    bytes += summaries.bytes;
  }
  return cutPage(page, items);
}

interface Addressed {
  event: OutboxEvent;
  receivers: Receiver[];
}

/** The first events whose possible deliveries fit into one batch read, at least one. */
function takeBatch(
  events: readonly OutboxEvent[],
  receiversOf: (event: OutboxEvent) => Receiver[],
): Addressed[] {
  const taken: Addressed[] = [];
  let pairs = 0;
  for (const event of events) {
    const receivers = receiversOf(event);
    pairs += receivers.length;
    if (taken.length > 0 && pairs > BATCH) break;
    taken.push({ event, receivers });
  }
  return taken;
}

/** Reads the first delivery of each pair and, unless that succeeded, the redelivery that arrived. */
async function readSummaries(tenant: Tenant, part: readonly Addressed[], now: Date) {
  const { generation } = tenant;
  const pairs = part.flatMap(({ event, receivers }) => receivers.map((receiver) => ({ event, receiver })));
  const toFirstId = ({ event, receiver }: (typeof pairs)[number]) => deriveDeliveryId(event.id, receiver.id);
  const findAll = (refs: { id: Delivery['id']; webhookId: Delivery['webhookId'] }[]) =>
    deliveries.findAll(
      refs.map((ref) => ({ ...ref, generation })),
      { consistent: false },
    );
  const first = await findAll(pairs.map((pair) => ({ id: toFirstId(pair), webhookId: pair.receiver.id })));
  const succeeded = new Set(first.filter(({ status }) => status === 'succeeded').map(({ id }) => id));
  const others = pairs
    .filter((pair) => !succeeded.has(toFirstId(pair)))
    .map(({ event, receiver }) => ({ eventId: event.id, webhookId: receiver.id }));
  const again = (await findRedeliveryRecords(tenant, others)).flatMap(({ webhookId, succeededId: id }) =>
    id === undefined ? [] : [{ webhookId, id }],
  );
  const ofPart = [...first, ...(await findAll(again))];
  const items = part.map(({ event, receivers }) => {
    const byId = new Map(receivers.map((receiver) => [receiver.id, receiver]));
    const own = ofPart.filter(({ eventId }) => eventId === event.id);
    return {
      ...event,
      deliveries: own
        .toSorted((one, other) => (one.id < other.id ? -1 : 1))
        .map((delivery) => toSummary(delivery, byId.get(delivery.webhookId), now)),
    };
  });
  return { items, bytes: JSON.stringify(ofPart).length };
}
