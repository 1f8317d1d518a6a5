import eventTypes from '../../../docs/openapi/event-types.json' with { type: 'json' };

/** All event types of the API document. */
export const EVENT_TYPES = Object.keys(eventTypes);

/** Event types that endpoints can subscribe to. */
export const SUBSCRIBABLE = Object.entries(eventTypes).flatMap(([type, { sentTo }]) =>
  sentTo === 'subscribers' ? [type] : [],
);
