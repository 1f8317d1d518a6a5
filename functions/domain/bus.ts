import * as z from 'zod/mini';
import type { DisablingNotice } from './endpoint.ts';
import { EVENT_CATALOGUE, type OutboxEvent } from './events.ts';
import { EndpointId, OrgId, ReceiverId, RedeliveryJobId, SourceId, TraceId, withTrace } from './ids.ts';
import { SourceKind } from './source.ts';
import type { Tenant } from './tenant.ts';

/** Who puts events on the bus; for the publisher and the rules. */
export const BUS_SOURCE = 'conversation-service';

/**
 * What is told on the bus beyond the events of the catalogue: news for the service itself, which no customer
 * can subscribe to. `data` by its type.
 */
export const NOTICES = {
  /** A webhook endpoint or a channel was disabled by its failures. */
  'webhook.disabled': z.object({ webhookId: ReceiverId, disabledAt: z.iso.datetime() }),
  /** A redelivery job is to be gone on with. */
  'webhook.redelivery': z.object({
    webhookId: EndpointId,
    redeliveryId: RedeliveryJobId,
    /** Counts the messages of a job, each of which hands on to the next. */
    round: z.int(),
  }),
  /** A source is to be checked now. */
  'source.check': z.object({ sourceId: SourceId }),
  /** A source is gone, and what is stored of it is to go. */
  'source.deleted': z.object({ sourceId: SourceId }),
  /** The digest of a day's changes that no notice was sent for is to be sent. */
  'source.digest': z.object({ day: z.string() }),
  /** A check found content that differs from what admins know by more than their threshold. */
  'source.changed': z.object({
    sourceId: SourceId,
    url: z.string(),
    kind: SourceKind,
    /** The version that was found. */
    version: z.int(),
    /** From the version that admins know, in percent. */
    difference: z.number(),
    /** The beginning of what came and of what went. */
    added: z.string(),
    removed: z.string(),
  }),
} as const;
export type NoticeType = keyof typeof NOTICES;
export type NoticeData<T extends NoticeType> = z.infer<(typeof NOTICES)[T]>;
export const NoticeTypeName = z.enum(Object.keys(NOTICES) as [NoticeType, ...NoticeType[]]);

/** A notice as the outbox holds it, committed with its cause. */
export const Notice = z.object({
  kind: z.literal('notice'),
  /** Names what happened, so that it is told once: derived from its cause where that can repeat. */
  id: z.string(),
  type: NoticeTypeName,
  orgId: OrgId,
  generation: z.int(),
  createdAt: z.iso.datetime(),
  data: z.record(z.string(), z.unknown()),
  traceId: TraceId,
});
export type Notice = z.infer<typeof Notice>;

/**
 * A notice to be committed with what it tells of. @throws a zod error when the data is not of its type, which
 * is a defect of the caller
 */
export const createNotice = <T extends NoticeType>(
  type: T,
  id: string,
  data: NoticeData<T>,
  { tenant: { orgId, generation }, now, traceId }: { tenant: Tenant; now: Date; traceId?: TraceId },
): Notice => ({
  kind: 'notice',
  id,
  type,
  orgId,
  generation,
  createdAt: now.toISOString(),
  data: NOTICES[type].parse(data),
  ...withTrace(traceId),
});

/**
 * What is put on the bus: the `detail` of an EventBridge event, whose `detail-type` is its type. Workers are
 * idempotent by `id`.
 */
export const BusEvent = z.object({
  id: z.string(),
  type: z.string(),
  orgId: OrgId,
  generation: z.int(),
  createdAt: z.iso.datetime(),
  data: z.record(z.string(), z.unknown()),
  traceId: TraceId,
});
export type BusEvent = z.infer<typeof BusEvent>;

const Envelope = z.object({ data: z.record(z.string(), z.unknown()) });

/** An event as the bus gets it. Undefined for one that is for one receiver alone, which no worker takes. */
export function toBusEvent({
  id,
  type,
  orgId,
  generation,
  createdAt,
  body,
  onlyTo,
  traceId,
}: OutboxEvent): BusEvent | undefined {
  if (onlyTo !== undefined) return undefined;
  const { data: all } = Envelope.parse(JSON.parse(body));
  const data = Object.fromEntries(
    EVENT_CATALOGUE[type].onBus.flatMap((field: string) => (field in all ? [[field, all[field]]] : [])),
  );
  return { id, type, orgId, generation, createdAt, data, ...withTrace(traceId) };
}

/**
 * A disabling as the bus tells it.
 * @param id of this disabling: a receiver that was enabled again can have another
 */
export const buildDisabledEvent = (
  { orgId, generation, webhookId, disabledAt, traceId }: DisablingNotice,
  id: string,
): BusEvent => ({
  id,
  type: 'webhook.disabled' satisfies NoticeType,
  orgId,
  generation,
  createdAt: disabledAt,
  data: { webhookId, disabledAt },
  ...withTrace(traceId),
});
