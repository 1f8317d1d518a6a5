import type { Client } from '../../../sdk/src/index.ts';
import { CommandError } from '../errors.ts';

/** Values for what is created. */
interface TriggerOptions {
  channel: string;
  user: string;
  text: string;
  /** Uses this conversation instead of a new one. */
  conversation?: string | undefined;
  /** For `webhook.test`. */
  endpoint?: string | undefined;
  signal?: AbortSignal;
}

/** An operation that was called. */
export interface TriggerStep {
  operation: string;
  /** Of what it created or changed. */
  id: string;
}

type Trigger = (client: Client, options: TriggerOptions) => AsyncGenerator<TriggerStep, void, undefined>;

/**
 * How an event type is made to happen, with the operations of the API. A type that needs a conversation
 * creates one, whose own event happens as well.
 */
export const TRIGGERS: Readonly<Record<string, Trigger>> = {
  'conversation.created': async function* (client, { channel, user, signal }) {
    yield* createConversation(client, { channel, user, signal });
  },
  'message.received': async function* (client, { text, ...options }) {
    const conversation = yield* useConversation(client, options);
    const { id } = await client.conversations.messages.create(
      conversation,
      { role: 'user', content: text },
      options,
    );
    yield { operation: 'createMessage', id };
  },
  'handoff.requested': async function* (client, { text, ...options }) {
    const conversation = yield* useConversation(client, options);
    const { id } = await client.conversations.handoff(conversation, { reason: text }, options);
    yield { operation: 'requestHandoff', id };
  },
  'ticket.created': async function* (client, { text, conversation, ...options }) {
    const { id } = await client.tickets.create(
      { reason: text, ...(conversation !== undefined && { conversationId: conversation }) },
      options,
    );
    yield { operation: 'createTicket', id };
  },
  'conversation.resolved': async function* (client, { user, ...options }) {
    const conversation = yield* useConversation(client, { user, ...options });
    const { id } = await client.conversations.resolve(conversation, { resolvedBy: user }, options);
    yield { operation: 'resolveConversation', id };
  },
  'conversation.deleted': async function* (client, options) {
    const conversation = yield* useConversation(client, options);
    await client.conversations.delete(conversation, options);
    yield { operation: 'deleteConversation', id: conversation };
  },
  'webhook.test': async function* (client, { endpoint, ...options }) {
    if (endpoint === undefined)
      throw new CommandError('USAGE', 'webhook.test is sent to one endpoint: give --endpoint whk_….');
    const { eventId } = await client.endpoints.test(endpoint, undefined, options);
    yield { operation: 'testWebhook', id: eventId };
  },
};

/** @throws CommandError that names the types, for a type that no operation causes */
export function findTrigger(type: string): Trigger {
  const trigger = TRIGGERS[type];
  if (trigger !== undefined) return trigger;
  throw new CommandError(
    'USAGE',
    `No operation causes ${type}. Event types that can be triggered: ${Object.keys(TRIGGERS).join(', ')}.`,
  );
}

type ConversationOptions = Pick<TriggerOptions, 'channel' | 'user' | 'conversation' | 'signal'>;

async function* useConversation(
  client: Client,
  options: ConversationOptions,
): AsyncGenerator<TriggerStep, string, undefined> {
  return options.conversation ?? (yield* createConversation(client, options));
}

async function* createConversation(
  client: Client,
  { channel, user, signal }: ConversationOptions,
): AsyncGenerator<TriggerStep, string, undefined> {
  const { id } = await client.conversations.create(
    { channelId: channel, externalUserId: user },
    signal === undefined ? {} : { signal },
  );
  yield { operation: 'createConversation', id };
  return id;
}
