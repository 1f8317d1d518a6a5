import type { RouteKey } from '../../functions/api/routes.ts';
import type { OperationText } from './operation-text.ts';
import { CHANNEL_TEXTS } from './texts/channels.ts';
import { CONVERSATION_TEXTS } from './texts/conversations.ts';
import { DELIVERY_TEXTS } from './texts/deliveries.ts';
import { KNOWLEDGE_TEXTS } from './texts/knowledge.ts';
import { REDELIVERY_TEXTS } from './texts/redeliveries.ts';
import { SANDBOX_TEXTS } from './texts/sandbox.ts';
import { SETTINGS_TEXTS } from './texts/settings.ts';
import { TICKET_TEXTS } from './texts/tickets.ts';
import { WEBHOOK_TEXTS } from './texts/webhooks.ts';

/** The text of every operation; a route without one does not compile. */
export const OPERATIONS: Record<RouteKey, OperationText> = {
  ...WEBHOOK_TEXTS,
  ...DELIVERY_TEXTS,
  ...REDELIVERY_TEXTS,
  ...CONVERSATION_TEXTS,
  ...CHANNEL_TEXTS,
  ...TICKET_TEXTS,
  ...KNOWLEDGE_TEXTS,
  ...SETTINGS_TEXTS,
  ...SANDBOX_TEXTS,
};
