import { createHash } from 'node:crypto';
import { v7 } from 'uuid';
import * as z from 'zod/mini';

/**
 * Identifiers are a type prefix and the 32 hex digits of a UUIDv7 (RFC 9562), so that the text order of
 * two identifiers of one type is the order of their creation, to the millisecond.
 */
const identifier = <P extends IdPrefix>(prefix: P) =>
  z.string().check(z.regex(new RegExp(`^${prefix}_[0-9a-f]{32}$`))) as z.ZodMiniType<
    `${P}_${string}`,
    `${P}_${string}`
  >;

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
/**
 * Whatever deliveries go to: a webhook endpoint, or a channel, which is to the engine what an endpoint is.
 */
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
export type ReceiverId = z.infer<typeof ReceiverId>;

export type IdPrefix =
  | 'org'
  | 'key'
  | 'whk'
  | 'evt'
  | 'dlv'
  | 'cnv'
  | 'msg'
  | 'esc'
  | 'tkt'
  | 'chn'
  | 'src'
  | 'rdj';

/**
 * A new identifier for something created at `now`.
 * @param now the creation time, whose milliseconds lead the identifier
 */
export function newId<P extends IdPrefix>(prefix: P, now: Date): `${P}_${string}` {
  return `${prefix}_${hex(v7({ msecs: now.getTime() }))}`;
}

/**
 * The one identifier that the delivery of `event` to `endpoint` has, however often it is derived: a replayed
 * stream batch therefore writes the same delivery again instead of a second one. It carries the event's time.
 */
export const deriveDeliveryId = (event: EventId, endpoint: ReceiverId): DeliveryId =>
  deriveId('dlv', parseCreationTime(event), `${event}/${endpoint}`);

/**
 * The one identifier of the delivery by which a redelivery job sends `event` to `endpoint` again, however
 * often it is derived for one time: that of the job, or of the page that the event is on. Times are all that
 * tells two jobs of an endpoint apart: there is one at a time.
 */
export const deriveJobDeliveryId = (event: EventId, endpoint: ReceiverId, at: Date): DeliveryId =>
  deriveId('dlv', at, `${event}/${endpoint}/redelivery/${at.getTime()}`);

function deriveId<P extends IdPrefix>(prefix: P, time: Date, name: string): `${P}_${string}` {
  const random = createHash('sha256').update(name).digest().subarray(0, 16);
  // No sequence number is given: it is then taken from bytes of the digest that the other digits do not use.
  // Two events of one millisecond must not meet in one identifier, since the second delivery would never be
  // added.
  return `${prefix}_${hex(v7({ msecs: time.getTime(), random }))}`;
}

/** The creation time that an identifier carries, to the millisecond. */
export function parseCreationTime(id: `${IdPrefix}_${string}`): Date {
  return new Date(Number.parseInt(id.slice(id.indexOf('_') + 1, id.indexOf('_') + 13), 16));
}

const hex = (uuid: string): string => uuid.replaceAll('-', '');

/**
 * What all that follows from one API call has in common, for who searches the logs: the root of the call's
 * `X-Amzn-Trace-Id`. It is stored and sent with what follows, and optional everywhere: what began without a
 * call has none, and neither has what was stored before there were any.
 */
export const TraceId = z.optional(z.string());
export type TraceId = z.infer<typeof TraceId>;

/**
 * `Root=1-5759e988-bd862e3fe1be46a994272793` among the fields of the header, which a caller may have written.
 */
const ROOT = /(?:^|;)\s*Root=(1-[0-9a-f]{8}-[0-9a-f]{24})\s*(?:;|$)/;

/**
 * The trace of an API call.
 * @param header its `X-Amzn-Trace-Id`, as API Gateway passes it on
 * @param requestId stands in where the header says nothing of use
 */
export const parseTraceId = (header: string | undefined, requestId: string): string =>
  ROOT.exec(header ?? '')?.[1] ?? requestId;

/** The attribute of whatever has a trace; none where there is none. */
export const withTrace = (traceId: TraceId): { traceId?: string } =>
  traceId === undefined ? {} : { traceId };
