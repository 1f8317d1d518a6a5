import { describe, expect, it } from 'vitest';
import { newId, type OrgId } from '../../../functions/aws/ids.ts';
import type { Channel } from '../../../functions/receivers/channels.ts';
import { aConversation, anHttpChannel, aWebWidget, NOW } from '../../builders.ts';
import { dynamoDb } from '../../engines.ts';
import { aConversationService } from './conversation-service.ts';

const engine = dynamoDb();

/**
 * A conversation on a channel.
 * @param make creates the channel, undefined when it is gone
 */
async function aConversationOn(
  make: (orgId: OrgId) => Channel | undefined,
  channelId: string = newId('chn', NOW),
) {
  const conversation = aConversation({ channelId });
  const service = await aConversationService(engine, conversation);
  const channel = make(service.tenant.orgId);
  if (channel !== undefined) await service.addChannel(channel);
  return service;
}

const onHttpChannel = () => {
  const id = newId('chn', NOW);
  return aConversationOn((orgId) => anHttpChannel({ orgId, id }), id);
};

describe('a message of an agent or the assistant on an http channel', () => {
  it.each(['agent', 'assistant'] as const)(
    'makes an event for that channel with its content: %s',
    async (role) => {
      const { post, events, conversation } = await onHttpChannel();

      const { data } = await post({ role });

      expect(await events('channel.message')).toEqual([
        {
          channelId: conversation.channelId,
          conversationId: conversation.id,
          messageId: data?.id,
          externalUserId: conversation.externalUserId,
          role,
          content: 'Hello',
        },
      ]);
      expect(await events('message.received')).toMatchObject([{ messageId: data?.id }]);
    },
  );
});

describe('no event for a channel is added', () => {
  it.each(['user', 'system'] as const)(
    'for a message that is not for the external user: %s',
    async (role) => {
      const { post, events } = await onHttpChannel();
      expect(await post({ role })).toMatchObject({ status: 201 });
      expect(await events('channel.message')).toEqual([]);
    },
  );

  const id = newId('chn', NOW);
  it.each([
    ['on a web widget', id, (orgId: OrgId) => aWebWidget({ orgId, id })],
    ['on a channel that is gone', id, () => undefined],
    ['on a channel of another organization', id, () => anHttpChannel({ id })],
    ['under a label of the customer’s own', 'chn_web', () => undefined],
  ])('%s', async (_, channelId, make) => {
    const { post, events } = await aConversationOn(make, channelId);
    expect(await post({ role: 'agent' })).toMatchObject({ status: 201 });
    expect(await events('channel.message')).toEqual([]);
  });
});
