import type { EventData, EventType } from '../../functions/domain/events.ts';

/*
 * The meaning of the fields of events and errors. The types ask for a text for every field.
 */

export const ENVELOPE_FIELDS = {
  type: 'Type of the event. Handle the types you know and answer 2xx to others: types are added without notice.',
  schemaVersion: 'Version of the shape of `data`. A change of the shape has a new version.',
  orgId: 'The organization it happened in.',
  createdAt: 'When it happened, UTC.',
  data: 'What happened: these fields and no others.',
};

const conversationId = 'The conversation.';
const reason = 'Why, if that was said; absent otherwise.';

export const EVENT_FIELDS: { [T in EventType]: Record<keyof EventData<T>, string> } = {
  'conversation.created': {
    conversationId,
    channelId: 'The channel it takes place on.',
    externalUserId: 'Who is talking.',
  },
  'message.received': {
    conversationId,
    messageId: 'The message. Its content is read with the API.',
    role: 'Who said it.',
  },
  'handoff.requested': { conversationId, escalationLogId: 'The entry of the escalation log.', reason },
  'ticket.created': {
    ticketId: 'The ticket.',
    conversationId: 'The conversation it came out of; absent when there is none.',
    reason: 'What it is about, if that was said; absent otherwise.',
  },
  'conversation.resolved': {
    conversationId,
    resolvedBy: 'Who resolved it; `api` when the call did not say.',
  },
  'webhook.test': { webhookId: 'The endpoint under test.' },
  'channel.message': {
    channelId: 'The channel that it is for.',
    conversationId,
    messageId: 'The message.',
    externalUserId: 'Whom it is for, as the conversation names them.',
    role: 'Who said it.',
    content: 'Its text.',
  },
};

export const ERROR_FIELDS = {
  type: 'What went wrong, for programs. New types may be added: treat an unknown one by its status.',
  message: 'What went wrong, for people: names the field and the constraint. Its wording may change.',
  requestId: 'Names the request; the same as the `Request-Id` header. Quote it to support.',
};
