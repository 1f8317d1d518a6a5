import * as z from 'zod/mini';
import type { Route } from '../../http/route.ts';
import * as shared from '../fields.ts';
import * as schema from './schemas.ts';

export const createConversation = {
  name: 'create-conversation',
  method: 'POST',
  path: '/v1/conversations',
  summary: 'Start a conversation',
  scope: 'write:conversations',
  idempotency: 'honoured',
  audit: 'none',
  params: shared.NoParams,
  query: shared.NoQuery,
  body: schema.CreateConversation,
  success: { status: 201, data: schema.Conversation },
} as const satisfies Route;

export const listConversations = {
  name: 'list-conversations',
  method: 'GET',
  path: '/v1/conversations',
  summary: 'List conversations',
  scope: 'read:conversations',
  params: shared.NoParams,
  query: shared.PageQuery,
  success: { status: 200, data: z.array(schema.Conversation) },
} as const satisfies Route;

export const readConversation = {
  name: 'read-conversation',
  method: 'GET',
  path: '/v1/conversations/{id}',
  summary: 'Read a conversation',
  scope: 'read:conversations',
  params: schema.ConversationParams,
  query: shared.NoQuery,
  success: { status: 200, data: schema.Conversation },
} as const satisfies Route;

export const createMessage = {
  name: 'create-message',
  method: 'POST',
  path: '/v1/conversations/{id}/messages',
  summary: 'Record a message in a conversation',
  scope: 'write:conversations',
  idempotency: 'honoured',
  audit: 'none',
  params: schema.ConversationParams,
  query: shared.NoQuery,
  body: schema.CreateMessage,
  success: { status: 201, data: schema.Message },
} as const satisfies Route;

export const listMessages = {
  name: 'list-messages',
  method: 'GET',
  path: '/v1/conversations/{id}/messages',
  summary: 'List the messages of a conversation',
  scope: 'read:conversations',
  params: schema.ConversationParams,
  query: shared.PageQuery,
  success: { status: 200, data: z.array(schema.Message) },
} as const satisfies Route;

export const readMessage = {
  name: 'read-message',
  method: 'GET',
  path: '/v1/conversations/{id}/messages/{messageId}',
  summary: 'Read a message',
  scope: 'read:conversations',
  params: schema.MessageParams,
  query: shared.NoQuery,
  success: { status: 200, data: schema.Message },
} as const satisfies Route;

export const requestHandoff = {
  name: 'request-handoff',
  method: 'POST',
  path: '/v1/conversations/{id}/handoff',
  summary: 'Hand a conversation off to a human',
  scope: 'write:conversations',
  idempotency: 'honoured',
  audit: 'none',
  params: schema.ConversationParams,
  query: shared.NoQuery,
  body: schema.RequestHandoff,
  success: { status: 201, unchanged: 200, data: schema.Escalation },
  refusals: ['CONFLICT'],
} as const satisfies Route;

export const listEscalations = {
  name: 'list-escalations',
  method: 'GET',
  path: '/v1/conversations/{id}/escalations',
  summary: 'List the escalation log of a conversation',
  scope: 'read:conversations',
  params: schema.ConversationParams,
  query: shared.PageQuery,
  success: { status: 200, data: z.array(schema.Escalation) },
} as const satisfies Route;

export const readEscalation = {
  name: 'read-escalation',
  method: 'GET',
  path: '/v1/conversations/{id}/escalations/{escalationLogId}',
  summary: 'Read an escalation log entry',
  scope: 'read:conversations',
  params: schema.EscalationParams,
  query: shared.NoQuery,
  success: { status: 200, data: schema.Escalation },
} as const satisfies Route;

export const resolveConversation = {
  name: 'resolve-conversation',
  method: 'POST',
  path: '/v1/conversations/{id}/resolve',
  summary: 'Mark a conversation resolved',
  scope: 'write:conversations',
  idempotency: 'honoured',
  audit: 'none',
  params: schema.ConversationParams,
  query: shared.NoQuery,
  body: schema.ResolveConversation,
  success: { status: 200, data: schema.Conversation },
} as const satisfies Route;
