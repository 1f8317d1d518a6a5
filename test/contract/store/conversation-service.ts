import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import { onTestFinished, vi } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import { buildAddition, committer } from '../../../functions/aws/transaction.ts';
import type { Conversation, Message, StateChange } from '../../../functions/conversations/conversations.ts';
import {
  conversationStore,
  escalationStore,
  messageStore,
  ticketStore,
} from '../../../functions/conversations/conversations.ts';
import { OutboxEvent } from '../../../functions/events/events.ts';
import { type Channel, channelStore } from '../../../functions/receivers/channels.ts';
import { generateApiKey, hashApiKey } from '../../../functions/tenancy/api-keys.ts';
import { keys } from '../../../functions/tenancy/keys.ts';
import { aConversation, aTenant, NOW } from '../../builders.ts';
import type { dynamoDb } from '../../engines.ts';
import { aGatewayEvent, FUNCTION_ENVIRONMENT, INVOCATION } from '../../support/functions.ts';

type Engine = ReturnType<typeof dynamoDb>;

/** An answer with its parsed body. */
export interface Answer {
  status: number;
  headers: Record<string, unknown>;
  data: Record<string, unknown> | undefined;
  error: { type: string; message: string } | undefined;
}

/**
 * A conversation and the functions of its routes as Lambda runs them, on empty tables. Faults go into their
 * client; the test itself reads and writes through another one.
 */
export async function aConversationService(engine: Engine, conversation: Conversation = aConversation()) {
  const { service, outbox, deliveries, rates } = await engine.createdTables();
  const tenant = aTenant();
  const secret = generateApiKey('live');
  const commit = committer(service.client);
  const conversations = conversationStore(service);
  const foreign = aConversation();
  await commit([
    ...conversations.add(tenant, conversation),
    ...conversations.add(aTenant(), foreign),
    buildAddition(service, {
      ...keys.organization(tenant.orgId),
      id: tenant.orgId,
      name: 'An organization',
      environment: 'live',
      tier: 'scale',
      createdAt: NOW.toISOString(),
    }),
    buildAddition(service, {
      ...keys.apiKey(hashApiKey(secret)),
      id: newId('key', NOW),
      orgId: tenant.orgId,
      environment: 'live',
      name: 'A key',
      scopes: ['write:conversations'],
      createdAt: NOW.toISOString(),
    }),
  ]);

  const functions = await load({
    ...FUNCTION_ENVIRONMENT,
    AWS_ENDPOINT_URL_DYNAMODB: await addressOf(engine),
    LOG_LEVEL: 'SILENT',
    SERVICE_TABLE: service.name,
    OUTBOX_TABLE: outbox.name,
    DELIVERIES_TABLE: deliveries.name,
    RATE_TABLE: rates.name,
  });

  type Call = { body?: object; idempotencyKey?: string; conversationId?: Conversation['id'] };
  const call = async (
    handler: Handler,
    { body, idempotencyKey, conversationId: id = conversation.id }: Call = {},
  ): Promise<Answer> => {
    const result = await handler(aRequest(secret, { id }, body, idempotencyKey), INVOCATION);
    const parsed = JSON.parse(result.body);
    return {
      status: result.statusCode,
      headers: result.headers ?? {},
      data: parsed.data,
      error: parsed.error,
    };
  };

  return {
    client: functions.client,
    post: (of: Call & { role?: Message['role'] } = {}) =>
      call(functions.createMessage, { body: { role: of.role ?? 'user', content: 'Hello' }, ...of }),
    handOff: (of?: Call) => call(functions.requestHandoff, of),
    resolve: (of?: Call) => call(functions.resolveConversation, of),
    createTicket: (body: object) => call(functions.createTicket, { body }),
    tickets: async () => (await ticketStore(service).list(tenant, { limit: 100 })).items,
    conversation,
    tenant,
    addChannel: (channel: Channel) => commit(channelStore(service).add(channel)),
    /** A conversation of another organization. */
    foreign,
    /** Changes the state of the conversation as another request does. */
    move: (move: StateChange) => commit([conversations.changeState(tenant, conversation.id, move)]),
    find: () => conversations.find(tenant, conversation.id),
    messages: async () =>
      (await messageStore(service).list(tenant, conversation.id, { limit: 100 })).items.map(({ id }) => id),
    escalations: async () =>
      (await escalationStore(service).list(tenant, conversation.id, { limit: 100 })).items,
    /** The data of all events of a type. */
    async events(type: string): Promise<Record<string, unknown>[]> {
      const { Items = [] } = await outbox.client.send(
        new ScanCommand({ TableName: outbox.name, ConsistentRead: true }),
      );
      return Items.map((row) => OutboxEvent.parse(row))
        .filter((event) => event.type === type)
        .map(({ body }) => JSON.parse(body).data);
    },
  };
}

type Handler = (event: APIGatewayProxyEvent, context: Context) => Promise<APIGatewayProxyResult>;

/** Loads the functions for one test, in an environment that they read when they load. */
async function load(environment: Record<string, string>) {
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  vi.resetModules();
  const [message, handoff, resolution, ticket, { tables }] = await Promise.all([
    import('../../../functions/api/conversations/create-message.ts'),
    import('../../../functions/api/conversations/request-handoff.ts'),
    import('../../../functions/api/conversations/resolve-conversation.ts'),
    import('../../../functions/api/conversations/create-ticket.ts'),
    import('../../../functions/api/route-handler.ts'),
  ]);
  onTestFinished(() => {
    tables.service.client.destroy();
    vi.unstubAllEnvs();
  });
  return {
    client: tables.service.client,
    createMessage: message.handler as Handler,
    requestHandoff: handoff.handler as Handler,
    resolveConversation: resolution.handler as Handler,
    createTicket: ticket.handler as Handler,
  };
}

/** Endpoint of the engine, for functions that create their clients themselves. */
export async function addressOf(engine: Engine): Promise<string> {
  const endpoint = await engine.client().config.endpoint?.();
  if (endpoint === undefined) throw new Error("an engine's client must have an endpoint");
  return `${endpoint.protocol}//${endpoint.hostname}:${endpoint.port}`;
}

/** A request in the form that the gateway passes on. */
const aRequest = (
  secret: string,
  { id }: Pick<Conversation, 'id'>,
  body?: object,
  idempotencyKey?: string,
): APIGatewayProxyEvent =>
  aGatewayEvent({
    headers: {
      authorization: `Bearer ${secret}`,
      'content-type': 'application/json',
      ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
    },
    pathParameters: { id },
    body: JSON.stringify(body ?? {}),
  });
