import type { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Api } from '../connection/connect.ts';
import { EVENT_TYPES } from '../event-types.ts';
import { explainFor } from '../events/explain.ts';
import { endpointId, eventId, limit, page, READ_ONLY, readArguments, time } from './arguments.ts';
import { failuresByCause } from './failures.ts';
import { answer } from './result.ts';
import { viewDelivery, viewEndpoint, viewEvent, viewEventDetails } from './views.ts';

const HOUR_MS = 3_600_000;
const eventType = z.enum(EVENT_TYPES);
const deliveryId = z.string().regex(/^dlv_\w+$/);
const period = {
  from: time.optional().describe('only of this time or later, UTC'),
  to: time.optional().describe('only before this time, UTC'),
};

/** Tools of a key that may read endpoints. */
export function registerReadingTools(server: McpServer, api: Api): void {
  const { client } = api;
  server.registerTool(
    'list_events',
    {
      title: 'List events',
      description: 'Lists the events of the last 30 days, newest first, with the state of their deliveries.',
      inputSchema: readArguments({ types: z.array(eventType).optional(), ...period, ...page }),
      annotations: READ_ONLY,
    },
    ({ types, cursor, ...filter }, { mcpReq }) =>
      answer(async () => {
        const query = { ...filter, include: 'deliveries', ...(types && { type: types }) } as const;
        const { data, nextCursor } = await client.events.list(query, mcpReq).page(cursor);
        return { events: data.map(viewEvent), nextCursor };
      }),
  );
  server.registerTool(
    'poll_events',
    {
      title: 'Poll the event log',
      description:
        'Returns the next events in their order, about 15 seconds after they happened. Call again with followCursor for later ones.',
      inputSchema: readArguments({
        types: z.array(eventType).optional(),
        from: time.optional().describe('where to begin without a cursor, UTC'),
        cursor: z.string().optional().describe('followCursor of the call before'),
        limit,
      }),
      annotations: READ_ONLY,
    },
    ({ types, cursor, ...filter }, { mcpReq }) =>
      answer(async () => {
        const query = { ...filter, order: 'asc', ...(types && { type: types }) } as const;
        const { data, nextCursor, followCursor } = await client.events.list(query, mcpReq).page(cursor);
        return { events: data.map(viewEvent), followCursor, isEnd: nextCursor === null };
      }),
  );
  server.registerTool(
    'get_event',
    {
      title: 'Read an event',
      description: 'Returns an event with its payload, its deliveries, and each attempt with its error.',
      inputSchema: readArguments({ eventId }),
      annotations: READ_ONLY,
    },
    ({ eventId: id }, { mcpReq }) =>
      answer(async () => viewEventDetails(await client.events.get(id, {}, mcpReq))),
  );
  server.registerTool(
    'why',
    {
      title: 'Explain who received an event',
      description: 'Says for each endpoint, or for one, why it did or did not receive an event.',
      inputSchema: readArguments({ eventId, endpointId: endpointId.optional() }),
      annotations: READ_ONLY,
    },
    ({ eventId: id, endpointId: endpoint }, { mcpReq }) =>
      answer(async () => ({ explanations: await explainFor(api, { id, endpoint }, mcpReq) })),
  );
  server.registerTool(
    'list_deliveries',
    {
      title: 'List deliveries',
      description: 'Lists the deliveries to an endpoint, newest first.',
      inputSchema: readArguments({
        endpointId,
        statuses: z.array(z.enum(['pending', 'retrying', 'succeeded', 'exhausted', 'skipped'])).optional(),
        ...period,
        ...page,
      }),
      annotations: READ_ONLY,
    },
    ({ endpointId: id, statuses, cursor, ...filter }, { mcpReq }) =>
      answer(async () => {
        const query = { ...filter, ...(statuses && { status: statuses }) };
        const { data, nextCursor } = await client.deliveries.list(id, query, mcpReq).page(cursor);
        return { deliveries: data, nextCursor };
      }),
  );
  server.registerTool(
    'get_delivery',
    {
      title: 'Read a delivery',
      description:
        'Returns a delivery with its attempts: times, statuses, errors and responses of the receiver.',
      inputSchema: readArguments({ endpointId, deliveryId }),
      annotations: READ_ONLY,
    },
    ({ endpointId: webhook, deliveryId: delivery }, { mcpReq }) =>
      answer(async () => viewDelivery(await client.deliveries.get(webhook, delivery, mcpReq))),
  );
  registerEndpointTools(server, api);
}

function registerEndpointTools(server: McpServer, api: Api): void {
  const { client } = api;
  server.registerTool(
    'list_endpoints',
    {
      title: 'List endpoints',
      description: 'Lists the endpoints with their failure state: active, failing or disabled.',
      inputSchema: readArguments({}),
      annotations: READ_ONLY,
    },
    (_, { mcpReq }) =>
      answer(async () => ({
        endpoints: (await client.endpoints.list({ limit: 100 }, mcpReq).take(100)).map(viewEndpoint),
      })),
  );
  server.registerTool(
    'get_endpoint',
    {
      title: 'Read an endpoint',
      description: 'Returns an endpoint, its failure state, and its deliveries by outcome.',
      inputSchema: readArguments({ endpointId, hours: z.number().int().min(1).max(168).default(24) }),
      annotations: READ_ONLY,
    },
    ({ endpointId: id, hours }, { mcpReq }) =>
      answer(async () => {
        const [endpoint, stats] = await Promise.all([
          client.endpoints.get(id, mcpReq),
          client.endpoints.stats(id, { hours }, mcpReq),
        ]);
        return { ...viewEndpoint(endpoint), stats };
      }),
  );
  server.registerTool(
    'failures_by_cause',
    {
      title: 'Failures by cause',
      description:
        'Groups the deliveries that fail or failed by the code of their last attempt’s error, and the status.',
      inputSchema: readArguments({
        hours: z.number().int().min(1).max(720).default(24),
        endpointId: endpointId.optional().describe('only at this endpoint'),
      }),
      annotations: READ_ONLY,
    },
    ({ hours, endpointId: endpoint }, { mcpReq }) =>
      answer(() => failuresByCause(api, { from: new Date(Date.now() - hours * HOUR_MS), endpoint }, mcpReq)),
  );
}
