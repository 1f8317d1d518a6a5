/** What an endpoint may subscribe to (public-api.md, Events). */
export const EVENT_TYPES = [
  'conversation.created',
  'message.received',
  'handoff.requested',
  'ticket.created',
  'conversation.resolved',
] as const;
