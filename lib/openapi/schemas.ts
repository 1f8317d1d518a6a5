import * as z from 'zod/mini';
import { OrgId } from '../../functions/aws/ids.ts';
import { EVENT_CATALOGUE, type EventType } from '../../functions/events/events.ts';

export const EVENT_TYPES = Object.keys(EVENT_CATALOGUE) as EventType[];

/** `conversation.created` is `ConversationCreatedEvent`. */
export const eventSchemaName = (type: EventType): string =>
  `${type.replaceAll(/(^|\.)./g, (letter) => letter.slice(-1).toUpperCase())}Event`;

/** The body of a delivery (docs/specification.md, Event envelope). */
const eventEnvelope = (type: EventType) =>
  z.object({
    type: z.literal(type),
    schemaVersion: z.literal(EVENT_CATALOGUE[type].schemaVersion),
    orgId: OrgId,
    createdAt: z.iso.datetime(),
    data: EVENT_CATALOGUE[type].data,
  });

export const EVENTS: Record<string, z.ZodMiniType> = Object.fromEntries(
  EVENT_TYPES.map((type) => [eventSchemaName(type), eventEnvelope(type)]),
);
