import { type EndpointId, newId, type TraceId } from '../aws/ids.ts';
import type { Tenant } from '../tenancy/tenant.ts';
import { buildEvent, EVENT_CATALOGUE, type OutboxEvent, type SubscribableType } from './events.ts';

/** Records that an example is about. Their identifiers are new and name nothing. */
function createRecords(webhookId: EndpointId, now: Date) {
  const createdAt = now.toISOString();
  const conversationId = newId('cnv', now);
  const channelId = newId('chn', now);
  const messageId = newId('msg', now);
  const externalUserId = 'example-visitor';
  const reason = 'An example: the visitor asks for a person.';
  return {
    conversation: { id: conversationId, channelId, externalUserId, createdAt },
    resolvedConversation: { id: conversationId, resolvedAt: createdAt, resolvedBy: 'api' },
    message: { id: messageId, conversationId, role: 'user', content: '', createdAt },
    escalation: { id: newId('esc', now), conversationId, reason, createdAt },
    ticket: { id: newId('tkt', now), conversationId, reason, createdAt },
    webhook: { id: webhookId },
    webhookTest: { createdAt },
    channelMessage: {
      createdAt,
      channelId,
      conversationId,
      messageId,
      externalUserId,
      role: 'agent',
      content: '',
    },
  } as const;
}

/** Builds an example of a type for one endpoint. Its payload has the fields of a real event. */
export function buildExampleEvent(
  type: SubscribableType,
  webhookId: EndpointId,
  context: { tenant: Tenant; now: Date; traceId: TraceId | undefined },
): OutboxEvent {
  const { createdAt, ...data } = EVENT_CATALOGUE[type].example(createRecords(webhookId, context.now));
  return buildEvent(type, data, { ...context, onlyTo: webhookId });
}
