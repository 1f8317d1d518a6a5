import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import { MessageRole } from '../../../functions/conversations/conversations.ts';
import { OutboxEvent } from '../../../functions/events/events.ts';
import { buildChannelMessage, Channel, parseChannelId } from '../../../functions/receivers/channels.ts';
import { Endpoint } from '../../../functions/receivers/endpoint.ts';
import {
  aConversation,
  aMessage,
  anHttpChannel,
  aSandboxTenant,
  aTenant,
  aWebWidget,
  NOW,
} from '../../builders.ts';

const context = (tenant = aTenant()) => ({ tenant, now: NOW });

describe('channel', () => {
  it('of kind http is an endpoint without subscriptions for the engine', () => {
    const channel = anHttpChannel();
    expect(Endpoint.parse(channel)).toEqual(
      Object.fromEntries(Object.entries(channel).filter(([name]) => name !== 'kind' && name !== 'name')),
    );
    expect(channel.events).toEqual([]);
  });

  it.each([
    ['http', anHttpChannel()],
    ['web_widget', aWebWidget()],
  ])('is read back as it was stored: %s', (_, channel) => {
    expect(Channel.parse(JSON.parse(JSON.stringify(channel)))).toEqual(channel);
  });

  it('is named by a conversation whose channel id has the form of an id', () => {
    const id = newId('chn', NOW);
    expect(parseChannelId(aConversation({ channelId: id }))).toBe(id);
    for (const channelId of [
      'web',
      'chn_web',
      `${id}0`,
      id.slice(0, -1),
      id.toUpperCase(),
      ` ${id}`,
      newId('whk', NOW),
    ])
      expect(parseChannelId({ channelId }), channelId).toBeUndefined();
  });
});

describe('message event of a channel', () => {
  const channel = anHttpChannel();
  const conversation = aConversation({ channelId: channel.id });
  const said = (role: (typeof MessageRole.options)[number], content = 'Hello') =>
    aMessage({ conversationId: conversation.id, role, content });

  it.each(MessageRole.options)('exists only for messages of agents and assistants: %s', (role) => {
    const built = buildChannelMessage(channel, conversation, said(role), context());
    expect(built !== undefined).toBe(role === 'agent' || role === 'assistant');
  });

  it('does not exist for a web widget', () => {
    expect(buildChannelMessage(aWebWidget(), conversation, said('agent'), context())).toBeUndefined();
  });

  it('is only for the channel, and has only the message', () => {
    const message = said('agent', 'Your parcel comes tomorrow.');
    const tenant = aSandboxTenant();
    const built = OutboxEvent.parse(buildChannelMessage(channel, conversation, message, context(tenant)));
    expect(built).toMatchObject({ ...tenant, type: 'channel.message', onlyTo: channel.id });
    expect(JSON.parse(built.body)).toEqual({
      type: 'channel.message',
      schemaVersion: 1,
      orgId: tenant.orgId,
      createdAt: NOW.toISOString(),
      data: {
        channelId: channel.id,
        conversationId: conversation.id,
        messageId: message.id,
        externalUserId: conversation.externalUserId,
        role: 'agent',
        content: message.content,
      },
    });
  });
});
