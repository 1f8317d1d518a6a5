import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import { Channel, parseChannelId } from '../../../functions/receivers/channels.ts';
import { Endpoint } from '../../../functions/receivers/endpoint.ts';
import { aConversation, anHttpChannel, aWebWidget, NOW } from '../../builders.ts';

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
