import eventTypes from '../../../docs/openapi/event-types.json';
import type { Schema } from './client.ts';

export type EventType = Schema<'Webhook'>['events'][number];

type Name = keyof typeof eventTypes;
const NAMES = Object.keys(eventTypes) as Name[];
const isSubscribable = (name: Name): name is EventType => eventTypes[name].sentTo === 'subscribers';

export const EVENT_TYPES: readonly EventType[] = NAMES.filter(isSubscribable);
/** Types of the event log, messages for channels included. */
export const LOGGED_TYPES: readonly Name[] = NAMES;
/** Types of the deliveries that an endpoint may have: tests are events, too. */
export const DELIVERED_TYPES: readonly Name[] = NAMES.filter((name) => eventTypes[name].sentTo !== 'channel');

/** Titles of the event types in the API document, which is in English. */
export const EVENT_SUMMARIES = Object.fromEntries(
  EVENT_TYPES.map((type) => [type, eventTypes[type].summary]),
) as Record<EventType, string>;
