import * as z from 'zod/mini';
import {
  buildIdBound,
  type DeliveryId,
  deriveDeliveryId,
  deriveJobDeliveryId,
  type EventId,
  parseCreationTime,
} from '../aws/ids.ts';
import { COMMIT_WINDOW_SECONDS, readPage } from '../aws/pages.ts';
import type { Table } from '../aws/table.ts';
import { Delivery, type DeliveryRef, isOpen } from '../delivery/delivery.ts';
import {
  isFirstDelivery,
  isForStill,
  isTooOld,
  type RedeliveryRecord,
  redeliveryRecords,
  repeatDelivery,
} from '../delivery/redelivery.ts';
import type { deliveryStore } from '../delivery/rows.ts';
import { listPartitions } from '../events/event-log.ts';
import { isFor, listTypesFor, OutboxEvent } from '../events/events.ts';
import type { Endpoint } from '../receivers/endpoint.ts';
import { DELIVERY_SHARDS, keys, listShards } from '../tenancy/keys.ts';
import type { RedeliveryJob } from './jobs.ts';

/** What a job reads of a delivery, or of an event that the endpoint has no delivery of. */
export type ExaminedDelivery = Pick<Delivery, 'eventId' | 'eventType' | 'filterValues'> &
  Partial<Pick<Delivery, 'id' | 'status' | 'terminalReason'>>;

/** A part of what a job examines, in the order of ids. */
export interface ExaminedPage {
  items: ExaminedDelivery[];
  /** Id after which the next page begins; undefined at the start of the range. */
  place: string | undefined;
  /** Whether the range ends here. */
  isLast: boolean;
}

/** An event that a page resends. */
export interface Resend {
  item: ExaminedDelivery;
  /** The event's record as it was read. */
  record: RedeliveryRecord | undefined;
  /** The job's delivery, once it is added. */
  delivery: Delivery | undefined;
  /** Whether an earlier try has added it, and it still waits for its first attempt. */
  isWaiting: boolean;
}

const DeliveryRow = z.pick(Delivery, {
  ...{ id: true, eventId: true, eventType: true, filterValues: true, conversationId: true, erased: true },
  ...{ status: true, terminalReason: true },
});
const EventRow = z.pick(OutboxEvent, {
  ...{ id: true, type: true, onlyTo: true, filterValues: true, conversationId: true, erased: true },
});
const DELIVERY_ATTRIBUTES = ['pk', 'sk', ...Object.keys(DeliveryRow.shape)];
const EVENT_ATTRIBUTES = ['pk', 'sk', ...Object.keys(EventRow.shape)];

/**
 * Whether a job resends the event of a delivery that ended so, or that does not exist.
 * @param delivery of the event; without a status when there is none
 */
export function isWanted(
  { what, statuses, reasons }: RedeliveryJob,
  { status, terminalReason }: Partial<Pick<Delivery, 'status' | 'terminalReason'>> = {},
): boolean {
  if (status === undefined) return what === 'missing';
  const hasReason = reasons === undefined || reasons.some((reason) => reason === terminalReason);
  return hasReason && statuses.some((resent) => resent === status);
}

const isRedelivery = ({ id, eventId }: ExaminedDelivery, webhookId: RedeliveryJob['webhookId']): boolean =>
  id !== undefined && !isFirstDelivery({ id, eventId, webhookId });

/** Lists the first deliveries of events whose redelivery failed: the job has to know how each ended. */
export function listFirstDeliveries(
  job: RedeliveryJob,
  examined: readonly ExaminedDelivery[],
): DeliveryRef[] {
  const { webhookId, generation } = job;
  const repeated = examined.filter(
    (delivery) => isWanted(job, delivery) && isRedelivery(delivery, webhookId),
  );
  const ids = new Set(repeated.map(({ eventId }) => deriveDeliveryId(eventId, webhookId)));
  return [...ids].map((id) => ({ id, webhookId, generation }));
}

/**
 * Selects the deliveries of a page whose events may be resent, one for each event. Of an event that failed
 * several times, the job resends the first delivery where that is in its range.
 * @param firsts the first deliveries, of those that still exist
 */
export function selectDeliveries(
  job: RedeliveryJob,
  examined: readonly ExaminedDelivery[],
  firsts: ReadonlyMap<DeliveryId, Pick<Delivery, 'status' | 'terminalReason'>>,
  now: Date,
): ExaminedDelivery[] {
  const { webhookId, from, to } = job;
  const isExamined = (first: DeliveryId) => {
    const time = parseCreationTime(first).toISOString();
    return time >= from && time < to && isWanted(job, firsts.get(first));
  };
  const selected = new Map<EventId, ExaminedDelivery>();
  for (const delivery of examined) {
    const { eventId } = delivery;
    if (isTooOld(eventId, now) || selected.has(eventId)) continue;
    if (isRedelivery(delivery, webhookId) && isExamined(deriveDeliveryId(eventId, webhookId))) continue;
    selected.set(eventId, delivery);
  }
  return [...selected.values()];
}

/** Creates the delivery that resends an event. @param at its creation time */
export const createJobDelivery = (job: RedeliveryJob, examined: ExaminedDelivery, at: Date): Delivery => {
  const { orgId, generation, webhookId, traceId } = job;
  const id = deriveJobDeliveryId(examined.eventId, webhookId, at);
  return repeatDelivery({ ...examined, orgId, generation, webhookId }, id, at, traceId);
};

/** The id by which a job examines an item. */
export const getPlace = ({ what }: Pick<RedeliveryJob, 'what'>, item: ExaminedDelivery | undefined) =>
  what === 'missing' ? item?.eventId : item?.id;

/** Ends a page before an item, which is left to the next one. */
export function endPageBefore(
  job: Pick<RedeliveryJob, 'what' | 'place'>,
  { items: all }: ExaminedPage,
  left: ExaminedDelivery,
): ExaminedPage {
  const items = all.slice(0, all.indexOf(left));
  return { items, place: getPlace(job, items.at(-1)) ?? job.place, isLast: false };
}

/** Reads what a job examines, and decides what of it is resent. */
export function jobPages(
  {
    tables,
    deliveries,
    now,
  }: {
    tables: { service: Table; outbox: Table; deliveries: Table };
    deliveries: Pick<ReturnType<typeof deliveryStore>, 'states'>;
    now: () => Date;
  },
  { pageSize }: { pageSize: number },
) {
  const findRecords = redeliveryRecords(tables.service);

  /** Reads the next page, which includes all that earlier rounds may have created deliveries for. */
  async function readNext(job: RedeliveryJob, endpoint: Endpoint): Promise<ExaminedPage> {
    const { place, reach = '' } = job;
    let page: ExaminedPage = { items: [], place, isLast: false };
    do {
      const next = await readAfter(page.place, job, endpoint);
      page = { ...next, items: [...page.items, ...next.items] };
    } while (!page.isLast && (page.place ?? '') < reach);
    if (job.dryRun === true) return { ...page, items: page.items.map((item) => toLive(item, endpoint)) };
    const fanningOut = page.items.find(isBeingFannedOut);
    return fanningOut === undefined ? page : endPageBefore(job, page, fanningOut);
  }

  async function readAfter(
    after: string | undefined,
    job: RedeliveryJob,
    endpoint: Endpoint,
  ): Promise<ExaminedPage> {
    const { what, webhookId, generation } = job;
    const times = { from: new Date(job.from), to: new Date(job.to) };
    if (what === 'missing') {
      const { items, next } = await readPage(
        tables.outbox,
        listPartitions(job),
        { after, limit: pageSize },
        {
          parse: (row) => EventRow.parse(row),
          order: 'oldest first',
          times: { prefix: 'evt', ...times },
          wanted: { type: listTypesFor(endpoint) },
          attributes: EVENT_ATTRIBUTES,
        },
      );
      const firsts = await findFirstDeliveries(job, endpoint, items);
      return { items: firsts, place: next ?? buildIdBound('evt', times.to), isLast: next === undefined };
    }
    const partitions = listShards(DELIVERY_SHARDS).map((shard) =>
      keys.deliveries(webhookId, generation, shard),
    );
    const { items, next } = await readPage(
      tables.deliveries,
      partitions,
      { after, limit: pageSize },
      {
        parse: (row) => DeliveryRow.parse(row),
        order: 'oldest first',
        times: { prefix: 'dlv', ...times },
        attributes: DELIVERY_ATTRIBUTES,
      },
    );
    return { items, place: next ?? buildIdBound('dlv', times.to), isLast: next === undefined };
  }

  /** The endpoint's own delivery of each event that is for it, as far as there is one. */
  async function findFirstDeliveries(
    { webhookId, generation }: RedeliveryJob,
    endpoint: Endpoint,
    events: readonly z.infer<typeof EventRow>[],
  ): Promise<ExaminedDelivery[]> {
    const refs = events
      .filter((event) => isFor(event, endpoint))
      .map(({ id: eventId, type: eventType, filterValues, conversationId }) => ({
        ref: { id: deriveDeliveryId(eventId, webhookId), webhookId, generation },
        event: {
          ...{ eventId, eventType },
          ...(filterValues && { filterValues }),
          ...(conversationId && { conversationId }),
        },
      }));
    const states = await deliveries.states(refs.map(({ ref }) => ref));
    return refs.map(({ ref: { id }, event }) => {
      const { status, terminalReason } = states.get(id) ?? {};
      return { ...event, ...(status && { id, status }), ...(terminalReason && { terminalReason }) };
    });
  }

  /** Whether the fan-out is about to add the delivery of a new event: the job waits for it. */
  const isBeingFannedOut = ({ status, eventId }: ExaminedDelivery): boolean =>
    status === undefined &&
    now().getTime() - parseCreationTime(eventId).getTime() < COMMIT_WINDOW_SECONDS * 1000;

  /** A count does not wait: a new event from after the registration is being delivered. */
  const toLive = (item: ExaminedDelivery, { createdAt }: Endpoint): ExaminedDelivery =>
    isBeingFannedOut(item) && parseCreationTime(item.eventId).getTime() >= Date.parse(createdAt)
      ? { ...item, status: 'pending' }
      : item;

  /**
   * Events to resend of a page, and those that an earlier try has resent: without events that have arrived,
   * also at a predecessor, or that another redelivery is about to deliver.
   */
  async function plan(
    job: RedeliveryJob,
    endpoint: Endpoint,
    examined: readonly ExaminedDelivery[],
  ): Promise<Resend[]> {
    const { webhookId, generation } = job;
    // After an earlier try, a late fan-out may have added the first delivery of what the job has resent.
    const keepsAll = job.what === 'missing' && job.dryRun !== true;
    const items = examined.filter((item) => isForStill(item, endpoint) && (keepsAll || isWanted(job, item)));
    const firsts = await deliveries.states(listFirstDeliveries(job, items));
    const selected = selectDeliveries(job, items, firsts, now());
    const eventIds = selected.map(({ eventId }) => eventId);
    const [records, received] = await Promise.all([
      findRecords(
        job,
        eventIds.map((eventId) => ({ eventId, webhookId })),
      ),
      findReceivedBefore(job, endpoint, eventIds),
    ]);
    const ids = records.flatMap(({ deliveryId, jobDeliveryId = deliveryId }) => [deliveryId, jobDeliveryId]);
    const states = await deliveries.states([...new Set(ids)].map((id) => ({ id, webhookId, generation })));
    const recordOf = new Map(records.map((record) => [record.eventId, record]));
    return selected.flatMap((item): Resend[] => {
      const record = recordOf.get(item.eventId);
      const own =
        record?.redeliveryId === job.id ? states.get(record.jobDeliveryId ?? record.deliveryId) : undefined;
      if (own !== undefined) {
        // Resent for another delivery of the same event, on another page.
        if (job.what === 'failed' && own.redeliveryOf !== item.id) return [];
        const delivery = createJobDelivery(job, item, parseCreationTime(own.id));
        return [{ item, record, delivery, isWaiting: own.status === 'pending' }];
      }
      const latest = record && states.get(record.deliveryId);
      const isBeingResent = latest !== undefined && isOpen(latest);
      const hasArrived =
        !job.statuses.includes('succeeded') &&
        (record?.succeededId !== undefined || received.has(item.eventId));
      if (hasArrived || isBeingResent || !isWanted(job, item)) return [];
      return [{ item, record, delivery: undefined, isWaiting: false }];
    });
  }

  /** Events that the endpoints have received which this one replaces. */
  async function findReceivedBefore(
    { orgId, generation, what }: RedeliveryJob,
    { predecessor, replaces = [] }: Endpoint,
    eventIds: readonly EventId[],
  ): Promise<ReadonlySet<EventId>> {
    if (what !== 'missing' || predecessor === undefined) return new Set();
    const end = Date.parse(predecessor.disabledAt);
    const before = eventIds.filter((id) => parseCreationTime(id).getTime() <= end);
    const pairs = [predecessor.id, ...replaces].flatMap((webhookId) =>
      before.map((eventId) => ({ eventId, webhookId })),
    );
    const firsts = pairs.map(({ eventId, webhookId }) => ({
      ...{ id: deriveDeliveryId(eventId, webhookId), webhookId, generation },
    }));
    const [states, records] = await Promise.all([
      deliveries.states(firsts),
      findRecords({ orgId, generation }, pairs),
    ]);
    return new Set([
      ...[...states.values()].filter(({ status }) => status === 'succeeded').map(({ eventId }) => eventId),
      ...records.filter(({ succeededId }) => succeededId !== undefined).map(({ eventId }) => eventId),
    ]);
  }

  return { readNext, plan };
}
