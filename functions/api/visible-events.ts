import { EVENT_CATALOGUE, type EventType, EventTypeName } from '../events/events.ts';
import type { Scope } from '../tenancy/api-keys.ts';

/** Events for a channel have the text of a message, which `read:webhooks` alone must not show. */
const isVisible = (type: EventType, allows: (scope: Scope) => boolean): boolean =>
  EVENT_CATALOGUE[type].sentTo !== 'channel' || allows('read:conversations');

/**
 * Narrows event types to those that the caller may see.
 * @param wanted undefined for all types
 * @returns undefined when that is no restriction
 */
export function narrowToVisible(
  wanted: readonly EventType[] | undefined,
  allows: (scope: Scope) => boolean,
): readonly EventType[] | undefined {
  const types = wanted ?? EventTypeName.options;
  const visible = types.filter((type) => isVisible(type, allows));
  return visible.length === EventTypeName.options.length ? undefined : visible;
}
