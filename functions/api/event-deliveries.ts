import { deriveDeliveryId } from '../aws/ids.ts';
import { BATCH } from '../aws/table.ts';
import type { Delivery } from '../delivery/delivery.ts';
import { arrivalStore } from '../delivery/redelivery-records.ts';
import type { OutboxEvent } from '../events/events.ts';
import type { Tenant } from '../tenancy/tenant.ts';
import { deliveries } from './deliveries.ts';
import { endpoints, findReceivers, type Receiver, toSummary } from './event-receivers.ts';
import { tables } from './route-handler.ts';

const arrivals = arrivalStore(tables.service);

/** Possible deliveries, one for each event and receiver, that are read for a page. */
const MAX_PAIRS = 400;
/** Size of the stored deliveries after which a page ends: those of sandboxes are up to 64 KB each. */
const MAX_BYTES = 1_000_000;

interface Pair {
  event: OutboxEvent;
  receiver: Receiver;
}

export type EventWithSummaries = OutboxEvent & { deliveries: ReturnType<typeof toSummary>[] };

/**
 * Reads a page of events with the deliveries of each.
 * @param read returns a page of up to so many events
 * @param limit of the page, which ends early where the organization has many receivers or large deliveries
 */
export async function withDeliveries(
  tenant: Tenant,
  { limit, now }: { limit: number; now: Date },
  read: (limit: number) => Promise<{ items: OutboxEvent[]; next?: string }>,
): Promise<{ items: EventWithSummaries[]; next?: string }> {
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
    const found = await readSummaries(tenant, part, now);
    items.push(...found.items);
    pairs += part.reduce((sum, { receivers }) => sum + receivers.length, 0);
    bytes += found.bytes;
  }
  const last = items.at(-1);
  return items.length < page.items.length && last !== undefined
    ? { items, next: last.id }
    : { ...page, items };
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
async function readSummaries(
  tenant: Tenant,
  part: readonly Addressed[],
  now: Date,
): Promise<{ items: EventWithSummaries[]; bytes: number }> {
  const { generation } = tenant;
  const pairs: Pair[] = part.flatMap(({ event, receivers }) =>
    receivers.map((receiver) => ({ event, receiver })),
  );
  const toFirstId = ({ event, receiver }: Pair) => deriveDeliveryId(event.id, receiver.id);
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
  const found = [...first, ...(await findAll(await arrivals.ofPairs(tenant, others)))];
  const items = part.map(({ event, receivers }) => {
    const byId = new Map(receivers.map((receiver) => [receiver.id, receiver]));
    const own = found.filter(({ eventId }) => eventId === event.id);
    return {
      ...event,
      deliveries: own
        .toSorted((one, other) => (one.id < other.id ? -1 : 1))
        .map((delivery) => toSummary(delivery, byId.get(delivery.webhookId), now)),
    };
  });
  return { items, bytes: JSON.stringify(found).length };
}
