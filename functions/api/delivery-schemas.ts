import * as z from 'zod/mini';
import { DeliveryId, EventId, Timestamp } from '../aws/ids.ts';
import { AttemptRecord, DeliveryStatus, TerminalReason, WebhookRequest } from '../delivery/delivery.ts';
import { EventTypeName } from '../events/events.ts';
import { AttemptErrorCode } from '../receivers/attempt-error.ts';
import { listed, moment, orNull, PageQuery } from './fields.ts';

/*
 * Shared by deliveries of webhook endpoints and of channels.
 */

/** Failures of a receiver: since when, and how many more disable it. */
export const Failing = z.object({ since: orNull(Timestamp), failuresUntilDisabled: z.int() });

/** Fields of a delivery, except the ids of the delivery and its receiver. */
export const DELIVERY_FIELDS = {
  eventId: EventId,
  eventType: EventTypeName,
  status: DeliveryStatus,
  attempts: z.int(),
  nextRetryAt: orNull(Timestamp),
  terminalAt: orNull(Timestamp),
  terminalReason: orNull(TerminalReason),
  lastError: orNull(z.string()),
  lastErrorCode: orNull(AttemptErrorCode),
  lastResponseStatus: orNull(z.int()),
  redeliveryOf: orNull(DeliveryId),
  createdAt: Timestamp,
};

export const Attempt = z.extend(AttemptRecord, {
  status: orNull(z.int()),
  error: orNull(z.string()),
  errorCode: orNull(AttemptErrorCode),
  response: orNull(z.string()),
  request: orNull(WebhookRequest),
});

/** The request and the response of the last attempt, if requested and stored. */
export const LISTED_FIELDS = { request: z.optional(WebhookRequest), lastResponse: z.optional(z.string()) };
export const ATTEMPTS_FIELDS = { attemptLog: z.array(Attempt) };
export const DeliveryInclude = z.enum(['request', 'response']);

export const ListDeliveriesQuery = z.extend(PageQuery, {
  status: z.optional(listed(DeliveryStatus)),
  eventType: z.optional(listed(EventTypeName)),
  from: z.optional(moment),
  to: z.optional(moment),
  include: z.optional(DeliveryInclude),
});
