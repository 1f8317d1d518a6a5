import type { RouteKey } from '../../functions/api/routes.ts';
import type { Described, OperationText } from './operation-text.ts';
import * as auditLog from './texts/audit-log.ts';
import * as channels from './texts/channels.ts';
import * as conversations from './texts/conversations.ts';
import * as deliveries from './texts/deliveries.ts';
import * as events from './texts/events.ts';
import * as knowledge from './texts/knowledge.ts';
import * as redeliveries from './texts/redeliveries.ts';
import * as sandbox from './texts/sandbox.ts';
import * as settings from './texts/settings.ts';
import * as tickets from './texts/tickets.ts';
import * as webhooks from './texts/webhooks.ts';

/** The text of every operation; a route without one does not compile. */
export const OPERATIONS: Record<RouteKey, OperationText> = {
  ...webhooks.operations,
  ...deliveries.operations,
  ...redeliveries.operations,
  ...events.operations,
  ...conversations.operations,
  ...channels.operations,
  ...tickets.operations,
  ...knowledge.operations,
  ...settings.operations,
  ...auditLog.operations,
  ...sandbox.operations,
};

/** The named schemas of answers. */
export const ANSWERS: Readonly<Record<string, Described>> = {
  ...webhooks.answers,
  ...deliveries.answers,
  ...redeliveries.answers,
  ...events.answers,
  ...conversations.answers,
  ...channels.answers,
  ...tickets.answers,
  ...knowledge.answers,
  ...settings.answers,
  ...auditLog.answers,
  ...sandbox.answers,
};

const { CreateConversation, ...ofConversations } = conversations.bodies;

/** The named schemas of requests, in the order of the published document. */
export const BODIES: Readonly<Record<string, Described>> = {
  ...webhooks.bodies,
  ...redeliveries.bodies,
  CreateConversation,
  ...channels.bodies,
  ...ofConversations,
  ...tickets.bodies,
  ...knowledge.bodies,
  ...settings.bodies,
};
