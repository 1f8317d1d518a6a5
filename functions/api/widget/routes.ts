import * as z from 'zod/mini';
import type { Route } from '../../http/route.ts';
import * as shared from '../fields.ts';
import * as schema from './schemas.ts';

export const createVisitorToken = {
  name: 'create-visitor-token',
  method: 'POST',
  path: '/v1/conversations/{id}/visitor-token',
  summary: 'Create a visitor token',
  scope: 'write:conversations',
  idempotency: 'honoured',
  audit: 'none',
  params: schema.ConversationParams,
  query: shared.NoQuery,
  success: { status: 201, data: schema.VisitorToken },
  refusals: ['CONFLICT'],
} as const satisfies Route;

export const readWidgetMessages = {
  name: 'read-widget-messages',
  method: 'GET',
  path: '/v1/widget/messages',
  summary: 'Read new messages as a visitor',
  visitor: true,
  params: shared.NoParams,
  query: shared.PageQuery,
  success: { status: 200, followed: true, data: z.array(schema.WidgetMessage) },
} as const satisfies Route;
