import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Channel, channelIdOf, relayed } from '../../../functions/domain/channel.ts';
import { Endpoint } from '../../../functions/domain/endpoint.ts';
import { MessageRole, OutboxEvent } from '../../../functions/domain/events.ts';
import { channelEventId, creationTime, newId } from '../../../functions/domain/ids.ts';
import {
  aConversation,
  aMessage,
  anHttpChannel,
  aSandboxTenant,
  aTenant,
  aWebWidget,
  later,
  NOW,
} from '../../builders.ts';
import { recentTimes, texts } from './arbitraries.ts';

const cause = (tenant = aTenant()) => ({ id: newId('evt', NOW), tenant, createdAt: NOW.toISOString() });

describe('a channel', () => {
  it('of the kind http is to the engine an endpoint that subscribes to nothing', () => {
    const channel = anHttpChannel();
    expect(Endpoint.parse(channel)).toEqual(
      Object.fromEntries(Object.entries(channel).filter(([name]) => name !== 'kind' && name !== 'name')),
    );
    expect(channel.events).toEqual([]);
  });

  it.each([
    ['http', anHttpChannel()],
    ['web_widget', aWebWidget()],
  ])('is what its row holds: %s', (_, channel) => {
    expect(Channel.parse(JSON.parse(JSON.stringify(channel)))).toEqual(channel);
  });

  it('is what a conversation names when it has the form of an identifier, and a label otherwise', () => {
    const id = newId('chn', NOW);
    expect(channelIdOf(aConversation({ channelId: id }))).toBe(id);
    for (const channelId of [
      'web',
      'chn_web',
      `${id}0`,
      id.slice(0, -1),
      id.toUpperCase(),
      ` ${id}`,
      newId('whk', NOW),
    ])
      expect(channelIdOf({ channelId }), channelId).toBeUndefined();
  });
});

describe('what is handed on', () => {
  const channel = anHttpChannel();
  const conversation = aConversation({ channelId: channel.id });
  const said = (role: (typeof MessageRole.options)[number], content = 'Hello') =>
    aMessage({ conversationId: conversation.id, role, content });

  it.each(MessageRole.options)('depends on who said it: %s', (role) => {
    const told = relayed(channel, conversation, said(role), cause());
    expect(told !== undefined).toBe(role === 'agent' || role === 'assistant');
  });

  it('is nothing to a web widget', () => {
    expect(relayed(aWebWidget(), conversation, said('agent'), cause())).toBeUndefined();
  });

  it('is an event for the channel alone, with the message and nothing else of what is stored', () => {
    const message = said('agent', 'Your parcel comes tomorrow.');
    const tenant = aSandboxTenant();
    const told = OutboxEvent.parse(relayed(channel, conversation, message, cause(tenant)));
    expect(told).toMatchObject({ ...tenant, type: 'channel.message', onlyTo: channel.id });
    expect(JSON.parse(told.body)).toEqual({
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

  it('is the same to the byte however often it is built, whatever was said', () => {
    fc.assert(
      fc.property(texts, (content) => {
        const message = said('assistant', content);
        const by = cause();
        expect(relayed(channel, conversation, message, by)).toEqual(
          relayed(channel, conversation, message, by),
        );
      }),
    );
  });
});

describe('the identifier of what is handed on', () => {
  it('has the time of the message’s event, and is another one for each event and channel', () => {
    fc.assert(
      fc.property(recentTimes, (time) => {
        const event = newId('evt', time);
        const [one, other] = [newId('chn', NOW), newId('chn', later(NOW, 1))];
        expect(creationTime(channelEventId(event, one))).toEqual(time);
        expect(channelEventId(event, one)).toBe(channelEventId(event, one));
        expect(
          new Set([
            event,
            channelEventId(event, one),
            channelEventId(event, other),
            channelEventId(newId('evt', time), one),
          ]).size,
        ).toBe(4);
      }),
    );
  });
});
