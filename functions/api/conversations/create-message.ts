import { newId } from '../../aws/ids.ts';
import {
  applyStateChange,
  ChannelMessageRole,
  Conversation,
  isOutdated,
  type Message,
} from '../../conversations/conversations.ts';
import { buildEvent } from '../../events/events.ts';
import { retryOnConflict, type UseCase } from '../../http/api.ts';
import type { ReadAhead } from '../../http/authentication.ts';
import { refusals } from '../../http/problem.ts';
import { success } from '../../http/reply.ts';
import { buildChannelMessage, parseChannelId } from '../../receivers/channels.ts';
import { keys } from '../../tenancy/keys.ts';
import { routeHandler } from '../route-handler.ts';
import { apiKeys, channels, conversations, messages, outbox } from '../stores.ts';
import * as routes from './routes.ts';

/** The conversation is read with the caller's key. */
const buildRowKey: ReadAhead['buildRowKey'] = (tenant, { pathParameters }) => {
  const { success, data } = routes.createMessage.params.safeParse(pathParameters);
  return success ? keys.conversation(tenant, data.id) : undefined;
};

/**
 * Reads the conversation before the transaction, because transactions on one item contend. A message writes
 * it to reopen it, and for `updatedAt` once a minute, where it gives way to any other write of it. One
 * resolved after the read stays resolved. For an `http` channel the transaction also adds the event that
 * delivers the message, even in a sandbox, whose requests the gate stops.
 */
const createMessage: UseCase<typeof routes.createMessage> = (request) => {
  const { tenant, params, body, now, effect } = request;
  let { rowAhead } = request;

  /** A conflict means that the conversation has changed since. */
  const findConversation = async () => {
    const row = rowAhead;
    rowAhead = undefined;
    return row === undefined ? conversations.find(tenant, params.id) : Conversation.parse(row);
  };

  return retryOnConflict(async (again) => {
    const conversation = await findConversation();
    if (!conversation) return refusals.notFound('conversation');
    const message: Message = {
      id: newId('msg', now),
      conversationId: conversation.id,
      ...body,
      createdAt: now.toISOString(),
    };
    const event = buildEvent('message.received', { ...message, messageId: message.id }, request);
    // Only messages of assistants and agents are delivered to a channel.
    const channelId = ChannelMessageRole.safeParse(message.role).success
      ? parseChannelId(conversation)
      : undefined;
    const channel = channelId && (await channels.find(tenant.orgId, channelId));
    const toChannel = channel && buildChannelMessage(channel, conversation, message, request);
    const move = { kind: 'reopen', at: now } as const;
    const reopened = applyStateChange(conversation, move)
      ? [conversations.changeState(tenant, conversation.id, move)]
      : [];
    const touched =
      reopened.length === 0 && isOutdated(conversation, now)
        ? [conversations.touch(tenant, conversation, now)]
        : [];
    const events = toChannel ? [event, toChannel] : [event];
    return effect(
      success(message, { location: `/api/v1/conversations/${conversation.id}/messages/${message.id}` }),
      [messages.add(tenant, message), ...events.map(outbox.append), ...reopened, ...touched],
      { 'conversation-changed': again },
    );
  });
};

export const handler = routeHandler(routes.createMessage, createMessage, {
  ahead: { buildRowKey, findWith: apiKeys.findWith },
});
