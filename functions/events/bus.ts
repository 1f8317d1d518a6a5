import * as z from 'zod/mini';
import { OrgId, ReceiverId, RedeliveryJobId, SourceId, Timestamp, TraceId, withTrace } from '../aws/ids.ts';
import { type Table, toExpiry } from '../aws/table.ts';
import { buildAddition, type Change } from '../aws/transaction.ts';
import { buildSandboxMark, keys } from '../tenancy/keys.ts';
import type { Tenant } from '../tenancy/tenant.ts';
import {
  EVENT_CATALOGUE,
  EVENT_DAYS,
  isFor,
  type OutboxEvent,
  parseEventBody,
  SubscribableType,
} from './events.ts';

/** `source` of the events on the bus. */
export const BUS_SOURCE = 'conversation-service';

/**
 * Expected content of a source's URL: an HTML page; CSV or XLSX; RSS or Atom (docs/specification.md,
 * Content-change notifications).
 */
export const SourceKind = z.enum(['url', 'spreadsheet', 'feed']);
export type SourceKind = z.infer<typeof SourceKind>;

/** Of the last delivery. The code is one of an attempt that failed. */
const LastError = { lastError: z.string(), lastErrorCode: z.optional(z.string()) };

/** Internal events on the bus, which customers cannot subscribe to: `data` by type. */
export const NOTICES = {
  /** A webhook endpoint or channel was disabled by failures. */
  'webhook.disabled': z.object({
    webhookId: ReceiverId,
    disabledAt: Timestamp,
    ...LastError,
  }),
  /** Half of the failures in a row that disable a webhook endpoint or channel were reached. */
  'webhook.failing': z.object({ webhookId: ReceiverId, ...LastError }),
  /** The next round of a redelivery job. */
  'webhook.redelivery': z.object({
    webhookId: ReceiverId,
    redeliveryId: RedeliveryJobId,
    /** Counts the messages of a job; each one sends the next. */
    round: z.int(),
  }),
  /** A source is due for a check. */
  'source.check': z.object({ sourceId: SourceId }),
  /** A source was deleted; its stored texts are to be deleted too. */
  'source.deleted': z.object({ sourceId: SourceId }),
  /** A check found content that differs by more than the threshold from the version that admins know. */
  'source.changed': z.object({
    sourceId: SourceId,
    url: z.string(),
    kind: SourceKind,
    version: z.int(),
    /** Percent, from the version that admins know. */
    difference: z.number(),
    /** It came within the time of an earlier e-mail, and was to be announced after it. */
    isPostponed: z.optional(z.boolean()),
    /** The largest added and removed passages, with an empty line between two. */
    added: z.string(),
    removed: z.string(),
  }),
} as const;
export type NoticeType = keyof typeof NOTICES;
export type NoticeData<T extends NoticeType> = z.infer<(typeof NOTICES)[T]>;

/** An internal event in the outbox, committed with its cause. */
export const Notice = z.object({
  kind: z.literal('notice'),
  /** Derived from the cause where that can repeat, so that a repetition is the same event. */
  id: z.string(),
  type: z.enum(Object.keys(NOTICES) as NoticeType[]),
  orgId: OrgId,
  generation: z.int(),
  createdAt: Timestamp,
  data: z.record(z.string(), z.unknown()),
  traceId: TraceId,
});
export type Notice = z.infer<typeof Notice>;

/**
 * Creates a notice to commit with its cause.
 * @throws a zod error when the data is not of the type (a defect of the caller)
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

/** The `detail` of an EventBridge event, whose `detail-type` is `type`. Workers are idempotent by `id`. */
export const BusEvent = z.object({
  id: z.string(),
  type: z.string(),
  orgId: OrgId,
  generation: z.int(),
  createdAt: Timestamp,
  data: z.record(z.string(), z.unknown()),
  traceId: TraceId,
});
export type BusEvent = z.infer<typeof BusEvent>;

const ON_BUS = /* @__PURE__ */ SubscribableType.options.filter(
  (type) => EVENT_CATALOGUE[type].onBus.length > 0,
);

/** Builds the bus event of an outbox event; undefined for one without subscribers or fields for the bus. */
export function toBusEvent(event: OutboxEvent): BusEvent | undefined {
  if (!isFor(event, { id: BUS_SOURCE, events: ON_BUS })) return undefined;
  const { id, type, orgId, generation, createdAt, body, traceId } = event;
  const { data: all } = parseEventBody(body);
  const data = Object.fromEntries(
    EVENT_CATALOGUE[type].onBus.flatMap((field: string) => (field in all ? [[field, all[field]]] : [])),
  );
  return { id, type, orgId, generation, createdAt, data, ...withTrace(traceId) };
}

/**
 * Creates the notice that a receiver fails or was disabled, for the transaction that counts the failure. Its
 * id has the time: a receiver that was enabled again can be disabled again.
 */
export function createReceiverNotice(
  type: 'webhook.failing' | 'webhook.disabled',
  failing: NoticeData<'webhook.failing'>,
  context: { tenant: Tenant; now: Date; traceId?: TraceId },
): Notice {
  const at = context.now.toISOString();
  const data = { ...failing, disabledAt: at };
  return createNotice(type, `${failing.webhookId}#${type.slice('webhook.'.length)}#${at}`, data, context);
}

export const appendNotice = (outbox: Pick<Table, 'name'>, notice: Notice): Change =>
  buildAddition(outbox, {
    ...keys.notice(notice.id),
    ...buildSandboxMark(notice),
    ...notice,
    expiresAt: toExpiry(new Date(notice.createdAt), EVENT_DAYS),
  });
