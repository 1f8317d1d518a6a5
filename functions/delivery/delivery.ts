import * as z from 'zod/mini';
import {
  ConversationId,
  DeliveryId,
  deriveDeliveryId,
  EventId,
  OrgId,
  ReceiverId,
  Timestamp,
  TraceId,
} from '../aws/ids.ts';
import { EventTypeName, FilterValues, findExclusion, isExample, type OutboxEvent } from '../events/events.ts';
import type { DeletedEndpoint, Endpoint } from '../receivers/endpoint.ts';
import type { UrlFault } from '../receivers/url-text.ts';

/** States that an attempt may start from. */
export const OPEN_STATUSES = ['pending', 'retrying'] as const;
/** States in which a delivery never changes again. */
const TERMINAL_STATUSES = ['succeeded', 'exhausted', 'skipped'] as const;
export type TerminalStatus = (typeof TERMINAL_STATUSES)[number];
export const DeliveryStatus = z.enum([...OPEN_STATUSES, ...TERMINAL_STATUSES]);
export type DeliveryStatus = z.infer<typeof DeliveryStatus>;

/** Builds a record with a value for each terminal status. */
export const mapTerminalStatuses = <T>(of: (status: TerminalStatus) => T): Record<TerminalStatus, T> =>
  Object.fromEntries(TERMINAL_STATUSES.map((status) => [status, of(status)])) as Record<TerminalStatus, T>;

/**
 * Why a delivery ends without a further attempt. `not_subscribed`: its event is no longer for the endpoint.
 * `erased`: the conversation of its event was erased.
 * `event_missing`: the event's body is gone. `expired`: still open after 3 days.
 */
export const SkipReason = z.enum([
  'endpoint_disabled',
  'endpoint_deleted',
  'endpoint_paused',
  'not_subscribed',
  'erased',
  'event_missing',
  'expired',
]);
export type SkipReason = z.infer<typeof SkipReason>;
/** A simulated receiver of a sandbox accepted the request (docs/specification.md, Sandbox). */
export const SIMULATED = 'sandbox_simulated';
export const TerminalReason = z.enum(['max_attempts', SIMULATED, ...SkipReason.options]);
export type TerminalReason = z.infer<typeof TerminalReason>;

/** Why the next attempt is later than by the backoff: the receiver asked for it by `Retry-After`. */
export const NextRetryReason = z.enum(['retry_after']);
export type NextRetryReason = z.infer<typeof NextRetryReason>;

/** Why an attempt failed, for programs. Codes may be added; their meanings do not change. */
export const AttemptErrorCode = z.enum([
  'http_status',
  'redirect',
  'timeout',
  'connection_refused',
  'connection_closed',
  'dns',
  'tls',
  'address_forbidden',
  'invalid_response',
  'lost',
]);
export type AttemptErrorCode = z.infer<typeof AttemptErrorCode>;

/** Why an attempt failed: in one line for the endpoint's owner, and for programs. */
export interface AttemptError {
  error: string;
  errorCode: AttemptErrorCode;
}

/** The error of a delivery whose last attempt was started and never settled. */
export const LOST_OUTCOME: AttemptError = {
  errorCode: 'lost',
  error: 'the last attempt was started, and its outcome was never recorded',
};

/** Builds the error of an attempt that did not end by its deadline. */
export const timedOutAfter = (timeoutMs: number): AttemptError => ({
  errorCode: 'timeout',
  error: `timed out after ${timeoutMs / 1000} s`,
});

/** The error of an attempt to send to a URL that was registered and is not allowed any more. */
export const forbid = ({ problem: error }: UrlFault): AttemptError => ({
  errorCode: 'address_forbidden',
  error,
});

/** A request to a receiver as sent. */
export const WebhookRequest = z.object({
  method: z.literal('POST'),
  url: z.string(),
  /** Names in lower case. */
  headers: z.record(z.string(), z.string()),
  body: z.string(),
});
export type WebhookRequest = z.infer<typeof WebhookRequest>;

/** One settled attempt. `status` when the receiver answered, `error` when the attempt failed. */
export const AttemptRecord = z.object({
  number: z.int(),
  startedAt: Timestamp,
  durationMs: z.int(),
  status: z.optional(z.int()),
  error: z.optional(z.string()),
  errorCode: z.optional(AttemptErrorCode),
  /** First KiB of the response body of a failed attempt. */
  response: z.optional(z.string()),
  /** Kept for simulated receivers, so that customers can test their verification with it. */
  request: z.optional(WebhookRequest),
});
export type AttemptRecord = z.infer<typeof AttemptRecord>;

/** The right to attempt a delivery until `until` (ms since the epoch). `token` fences the settlement. */
export const Lease = z.object({ token: z.string(), until: z.number() });
export type Lease = z.infer<typeof Lease>;

/**
 * A time at which a delivery at an endpoint with a limit may be attempted
 * (docs/decisions/0026-endpoint-rate.md). It is given for the attempt that follows `attempts` others;
 * `missed` times before it were not used.
 */
export const Turn = z.object({ at: z.number(), era: z.int(), attempts: z.int(), missed: z.int() });
export type Turn = z.infer<typeof Turn>;

/** One event for one endpoint. */
export const Delivery = z.object({
  id: DeliveryId,
  orgId: OrgId,
  generation: z.int(),
  /** The webhook endpoint or channel. */
  webhookId: ReceiverId,
  eventId: EventId,
  eventType: EventTypeName,
  /** Of the event, so that it is known without the event whether that is for the endpoint. */
  filterValues: z.optional(FilterValues),
  /** Whose erasure erases the responses and requests of the attempts. */
  conversationId: z.optional(ConversationId),
  /** Set when they were erased. */
  erased: z.optional(z.literal(true)),
  status: DeliveryStatus,
  /** Attempts started; an attempt is counted before its request is sent. */
  attempts: z.int(),
  attemptLog: z.array(AttemptRecord),
  createdAt: Timestamp,
  nextRetryAt: z.optional(Timestamp),
  nextRetryReason: z.optional(NextRetryReason),
  terminalAt: z.optional(Timestamp),
  terminalReason: z.optional(TerminalReason),
  lastError: z.optional(z.string()),
  lastErrorCode: z.optional(AttemptErrorCode),
  lastResponseStatus: z.optional(z.int()),
  lease: z.optional(Lease),
  /** Set while no queue message exists for the next attempt; the reconciler sends one when it is due. */
  parked: z.optional(z.literal(true)),
  /** At an endpoint with a limit: the time that was given to the attempt that it waits for. */
  turn: z.optional(Turn),
  /** The delivery that this one repeats. */
  redeliveryOf: z.optional(DeliveryId),
  /**
   * Trace of the API call that started a redelivery. Other deliveries share their event's trace: storing it
   * in each row would cost writes.
   */
  traceId: TraceId,
});
export type Delivery = z.infer<typeof Delivery>;

export const isOpen = ({ status }: Pick<Delivery, 'status'>): boolean =>
  OPEN_STATUSES.some((open) => open === status);

/** Identifies a delivery: the parts of its key. */
export type DeliveryRef = Pick<Delivery, 'id' | 'webhookId' | 'generation'>;

/** With the organization, by which the due index is sorted. */
export type DueRef = DeliveryRef & Pick<Delivery, 'orgId'>;

/**
 * A queue message that names a delivery. The row in the table decides, not the message (docs/architecture.md,
 * Guarantees).
 */
export const DeliveryMessage = z.pick(Delivery, {
  id: true,
  orgId: true,
  generation: true,
  webhookId: true,
  eventId: true,
  traceId: true,
});
export type DeliveryMessage = z.infer<typeof DeliveryMessage>;

export const toDeliveryMessage = (delivery: Delivery): DeliveryMessage => DeliveryMessage.parse(delivery);

export type ClaimedDelivery = Delivery & { lease: Lease };

/** Why an endpoint gets nothing in a state; undefined while it is active. */
export const SKIPPED_WHILE: Readonly<Record<Endpoint['status'], SkipReason | undefined>> = {
  active: undefined,
  paused: 'endpoint_paused',
  auto_disabled: 'endpoint_disabled',
};

/**
 * Creates the delivery of an event to an endpoint. For a paused or disabled one it is created as `skipped`
 * (docs/specification.md, Webhook endpoints).
 */
export function createDelivery(
  event: OutboxEvent,
  endpoint: Pick<Endpoint, 'id' | 'status'>,
  now: Date,
): Delivery {
  const skipReason = SKIPPED_WHILE[endpoint.status];
  const createdAt = now.toISOString();
  return {
    id: deriveDeliveryId(event.id, endpoint.id),
    orgId: event.orgId,
    generation: event.generation,
    webhookId: endpoint.id,
    eventId: event.id,
    eventType: event.type,
    ...(event.filterValues && { filterValues: event.filterValues }),
    ...(event.conversationId && { conversationId: event.conversationId }),
    status: skipReason === undefined ? 'pending' : 'skipped',
    attempts: 0,
    attemptLog: [],
    createdAt,
    ...(skipReason && { terminalAt: createdAt, terminalReason: skipReason }),
  };
}

/** Returns a delivery without what its attempts keep of requests and responses, which may have texts. */
export const eraseAttempts = ({ filterValues, ...delivery }: Delivery): Delivery => ({
  ...delivery,
  attemptLog: delivery.attemptLog.map(({ request, response, ...attempt }) => attempt),
  erased: true,
});

/** Why an endpoint did not get an event (docs/specification.md, Events). */
export const Undelivered = z.enum([
  'not_subscribed',
  'filtered',
  'erased',
  'registered_later',
  'paused',
  'disabled',
  'deleted',
  'example_for_another',
  'about_itself',
]);
type Undelivered = z.infer<typeof Undelivered>;

const BY_END: Partial<Record<TerminalReason, Undelivered>> = {
  endpoint_paused: 'paused',
  endpoint_disabled: 'disabled',
  endpoint_deleted: 'deleted',
  erased: 'erased',
};

/**
 * Explains why an endpoint got no attempt of an event.
 * @param endpoint as it is now; its settings may have been others when the event happened
 * @param delivery of the event to the endpoint
 * @param isFannedOut whether an endpoint that the event is for has its delivery by now, or had it when it was
 * deleted
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
  if ('deletedAt' in endpoint && !isFannedOut) return 'deleted';
  // It was not subscribed when the event happened.
  if (exclusion === undefined) return isFannedOut ? 'not_subscribed' : undefined;
  return exclusion;
}

/** How an attempt ended. One without `error` succeeded. */
export type AttemptOutcome = {
  status?: number;
  response?: string;
  /** Value of the header of that name, of a receiver that is overloaded or down for a while. */
  retryAfter?: string;
  /** The request that a simulated receiver got. */
  simulated?: WebhookRequest;
} & (AttemptError | { error?: undefined; errorCode?: undefined });

/** Result of one attempt. */
export type AttemptResult = AttemptOutcome & { startedAt: Date; endedAt: Date };

/**
 * Signs and sends the event. Ends by its deadline and never throws for a receiver's failure.
 * @param onSlow called once when the endpoint is slow: `SLOW_AFTER_SECONDS`, `SLOW_TO_CONNECT_SECONDS`
 */
export type SendAttempt = (
  delivery: ClaimedDelivery,
  event: OutboxEvent,
  onSlow: () => void,
) => Promise<AttemptOutcome>;

/** A message to send. */
export interface OutgoingMessage {
  message: DeliveryMessage;
  /** Earliest time of its receipt; at once when absent or past. */
  until?: Date;
}
