import { hash } from 'node:crypto';
import { v7 } from 'uuid';
import * as z from 'zod/mini';

/**
 * A type prefix and the 32 hex digits of a UUIDv7 (RFC 9562), so that identifiers of one type sort by
 * creation time to the millisecond.
 */
const identifier = <P extends string>(prefix: P) =>
  z.string().check(
    z.regex(new RegExp(`^${prefix}_[0-9a-f]{32}$`), {
      error: `must be an identifier: ${prefix}_ and 32 hexadecimal digits`,
    }),
  ) as z.ZodMiniType<`${P}_${string}`, `${P}_${string}`>;

export const OrgId = identifier('org');
export const KeyId = identifier('key');
export const EndpointId = identifier('whk');
export const EventId = identifier('evt');
export const DeliveryId = identifier('dlv');
export const ConversationId = identifier('cnv');
export const MessageId = identifier('msg');
export const EscalationId = identifier('esc');
export const TicketId = identifier('tkt');
export const ChannelId = identifier('chn');
export const SourceId = identifier('src');
export const RedeliveryJobId = identifier('rdj');
export const AuditEntryId = identifier('aud');
/** A receiver of deliveries: a webhook endpoint or a channel. */
export const ReceiverId = z.union([EndpointId, ChannelId]);

export type OrgId = z.infer<typeof OrgId>;
export type KeyId = z.infer<typeof KeyId>;
export type EndpointId = z.infer<typeof EndpointId>;
export type EventId = z.infer<typeof EventId>;
export type DeliveryId = z.infer<typeof DeliveryId>;
export type ConversationId = z.infer<typeof ConversationId>;
export type MessageId = z.infer<typeof MessageId>;
export type EscalationId = z.infer<typeof EscalationId>;
export type TicketId = z.infer<typeof TicketId>;
export type ChannelId = z.infer<typeof ChannelId>;
export type SourceId = z.infer<typeof SourceId>;
export type RedeliveryJobId = z.infer<typeof RedeliveryJobId>;
export type AuditEntryId = z.infer<typeof AuditEntryId>;
export type ReceiverId = z.infer<typeof ReceiverId>;

/** @param now creation time, whose milliseconds lead the identifier */
export function newId<P extends string>(prefix: P, now: Date): `${P}_${string}` {
  return `${prefix}_${hex(v7({ msecs: now.getTime() }))}`;
}

/**
 * Derives the delivery id of an event at an endpoint, so that a replayed stream batch writes the same
 * delivery again. It carries the event's time.
 */
export const deriveDeliveryId = (event: EventId, endpoint: ReceiverId): DeliveryId =>
  deriveId('dlv', parseCreationTime(event), `${event}/${endpoint}`);

/**
 * Derives the delivery id by which a redelivery job resends an event. The time is enough to tell jobs apart,
 * because an endpoint has one job at a time.
 * @param at creation time of the job, or of the page that has the event
 */
export const deriveJobDeliveryId = (event: EventId, endpoint: ReceiverId, at: Date): DeliveryId =>
  deriveId('dlv', at, `${event}/${endpoint}/redelivery/${at.getTime()}`);

/**
 * Derives the id of the event that tells of a change of an endpoint.
 * @param idTime time of the id
 */
export const deriveEndpointEventId = (endpoint: EndpointId, type: string, idTime: Date): EventId =>
  deriveId('evt', idTime, `${endpoint}/${type}/${idTime.getTime()}`);

function deriveId<P extends string>(prefix: P, time: Date, name: string): `${P}_${string}` {
  const random = hash('sha256', name, 'buffer').subarray(0, 16);
  // Without a sequence number, uuid takes it from digest bytes that the other digits do not use. Two events
  // of one millisecond must not get the same id: the second delivery would never be added.
  return `${prefix}_${hex(v7({ msecs: time.getTime(), random }))}`;
}

/** Returns the creation time that an identifier carries, to the millisecond. */
export function parseCreationTime(id: `${string}_${string}`): Date {
  return new Date(Number.parseInt(id.slice(id.indexOf('_') + 1, id.indexOf('_') + 13), 16));
}

const hex = (uuid: string): string => uuid.replaceAll('-', '');

/**
 * Trace of one API call, for log searches: the root of its `X-Amzn-Trace-Id`. Stored and sent with everything
 * that the call caused; absent without a call, and in older rows.
 */
export const TraceId = z.optional(z.string());
export type TraceId = z.infer<typeof TraceId>;

/** `Root=1-5759e988-bd862e3fe1be46a994272793` in the header. Callers can set the header. */
const ROOT = /(?:^|;)\s*Root=(1-[0-9a-f]{8}-[0-9a-f]{24})\s*(?:;|$)/;

/**
 * @param header `X-Amzn-Trace-Id` as API Gateway passes it on
 * @param requestId used when the header has no valid root
 */
export const parseTraceId = (header: string | undefined, requestId: string): string =>
  ROOT.exec(header ?? '')?.[1] ?? requestId;

/** Returns the trace attribute, if there is a trace. */
export const withTrace = (traceId: TraceId): { traceId?: string } =>
  traceId === undefined ? {} : { traceId };

/** Bound of ids by creation time: less than every id of that millisecond, more than those before it. */
export const buildIdBound = (prefix: 'dlv' | 'evt' | 'aud' | 'msg', time: Date): string =>
  `${prefix}_${time.getTime().toString(16).padStart(12, '0')}`;

/** Bounds of the ids of deliveries created from `start` until before `end`. */
export const buildIdBounds = (start: Date, end: Date): [from: string, to: string] => [
  buildIdBound('dlv', start),
  buildIdBound('dlv', end),
];

/** A time in UTC as RFC 3339 text. One schema, because each takes part of a cold start. */
export const Timestamp = z.iso.datetime();
