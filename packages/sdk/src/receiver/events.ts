import type { components } from '../schema.gen.ts';

type Schemas = components['schemas'];

/** The body of a webhook request. `type` narrows `data`. */
export type EventPayload =
  | Schemas['ConversationCreatedEvent']
  | Schemas['MessageReceivedEvent']
  | Schemas['HandoffRequestedEvent']
  | Schemas['TicketCreatedEvent']
  | Schemas['ConversationResolvedEvent']
  | Schemas['WebhookTestEvent']
  | Schemas['ChannelMessageEvent'];

export type EventType = EventPayload['type'];

/**
 * A verified event. Types are added without notice, so `type` can be another string than those known here:
 * end a `switch` with a `default` that does nothing.
 */
export type ReceivedEvent<Type extends EventType = EventType> = Extract<EventPayload, { type: Type }> & {
  /** The `webhook-id` header: the same for all attempts, endpoints and redeliveries of the event. */
  readonly id: string;
  /** The `webhook-delivery-id` header. */
  readonly deliveryId: string | undefined;
  /** The `webhook-endpoint-id` header: the endpoint, or the channel. */
  readonly endpointId: string | undefined;
  /** The `webhook-attempt` header, from 1. */
  readonly attempt: number | undefined;
  /** The `webhook-example` header, which is not signed: a test sent the event, and nothing of it happened. */
  readonly isExample: boolean;
};
