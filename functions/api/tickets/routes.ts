import * as z from 'zod/mini';
import type { Route } from '../../http/route.ts';
import * as shared from '../fields.ts';
import * as schema from './schemas.ts';

export const createTicket = {
  name: 'create-ticket',
  method: 'POST',
  path: '/v1/tickets',
  summary: 'Create a fallback ticket',
  scope: 'write:conversations',
  idempotency: 'honoured',
  audit: 'none',
  params: shared.NoParams,
  query: shared.NoQuery,
  body: schema.CreateTicket,
  success: { status: 201, data: schema.Ticket },
  refusals: ['NOT_FOUND'],
} as const satisfies Route;

export const listTickets = {
  name: 'list-tickets',
  method: 'GET',
  path: '/v1/tickets',
  summary: 'List tickets',
  scope: 'read:conversations',
  params: shared.NoParams,
  query: shared.PageQuery,
  success: { status: 200, data: z.array(schema.Ticket) },
} as const satisfies Route;

export const readTicket = {
  name: 'read-ticket',
  method: 'GET',
  path: '/v1/tickets/{id}',
  summary: 'Read a ticket',
  scope: 'read:conversations',
  params: schema.TicketParams,
  query: shared.NoQuery,
  success: { status: 200, data: schema.Ticket },
} as const satisfies Route;
