import eventTypes from '../../../docs/openapi/event-types.json' with { type: 'json' };
import type { BodyOf, ItemOf } from '../../sdk/src/index.ts';

export type EventType = ItemOf<'listEvents'>['type'];

/** All event types of the API document, from which the types of the client are generated as well. */
export const EVENT_TYPES = Object.keys(eventTypes) as EventType[];

/** Event types that endpoints can subscribe to. */
export const SUBSCRIBABLE = Object.entries(eventTypes).flatMap(([type, { sentTo }]) =>
  sentTo === 'subscribers' ? [type] : [],
) as BodyOf<'registerWebhook'>['events'];
