import type { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Client } from '../../../sdk/src/index.ts';
import { EVENT_TYPES } from '../event-types.ts';
import { failuresByCause } from './failures.ts';
import { answer } from './result.ts';
import { viewDelivery, viewEndpoint, viewEvent, viewEventDetails } from './views.ts';

const HOUR_MS = 3_600_000;
const READ_ONLY = { readOnlyHint: true, openWorldHint: true } as const;

const eventType = z.enum(EVENT_TYPES);
const eventId = z.string().regex(/^evt_\w+$/);
const deliveryId = z.string().regex(/^dlv_\w+$/);
export const endpointId = z.string().regex(/^whk_\w+$/);
const page = {
  limit: z.number().int().min(1).max(100).default(20),
  cursor: z.string().optional().describe('nextCursor of the page before'),
};
const period = {
  from: z.iso.datetime().optional().describe('only of this time or later, UTC'),
  to: z.iso.datetime().optional().describe('only before this time, UTC'),
};

/** Arguments of a tool. An unknown one is refused: a typing error must not read more than was asked for. */
export const readArguments = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.strictObject(shape, {
    error: ({ code }) =>
      code === 'unrecognized_keys'
        ? `Unknown argument. The arguments are: ${Object.keys(shape).join(', ')}.`
        : undefined,
  });

/** Tools of a key that may read endpoints. */
export function registerReadingTools(server: McpServer, client: Client): void {
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
  registerEndpointTools(server, client);
}

function registerEndpointTools(server: McpServer, client: Client): void {
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
        endpoints: (await client.webhooks.list({ limit: 100 }, mcpReq).take(100)).map(viewEndpoint),
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
          client.webhooks.get(id, mcpReq),
          client.webhooks.stats(id, { hours }, mcpReq),
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
      answer(() =>
        failuresByCause(client, { from: new Date(Date.now() - hours * HOUR_MS), endpoint }, mcpReq),
      ),
  );
}
