import type { ChannelId, OrgId } from '../aws/ids.ts';
import { type Page, type PageRequest, readPage } from '../aws/pages.ts';
import { get, type Table } from '../aws/table.ts';
import {
  buildAddition,
  buildRemoval,
  type Change,
  type Counter,
  decreaseCount,
  increaseCount,
} from '../aws/transaction.ts';
import { keys } from '../tenancy/keys.ts';
import { Channel, MAX_CHANNELS } from './channel.ts';

const parse = (row: unknown): Channel => Channel.parse(row);

const getCounter = (orgId: OrgId): Counter => ({
  key: keys.channelCount(orgId),
  things: 'channels',
  limit: MAX_CHANNELS,
  refusals: { full: 'channel-limit', missing: 'channel-missing' },
});

/**
 * Channels of an organization, with a counter that enforces their limit. The endpoint store writes the
 * delivery state of `http` channels to the same rows.
 */
export function channelStore(service: Table) {
  return {
    async find(orgId: OrgId, id: ChannelId): Promise<Channel | undefined> {
      const row = await get(service, keys.endpoint(orgId, id));
      return row && parse(row);
    },

    list(orgId: OrgId, page: PageRequest): Promise<Page<Channel>> {
      return readPage(service, [keys.channels(orgId)], page, { parse });
    },

    /** The row of a channel to remove, which may be unreadable as a channel. */
    findToRemove(orgId: OrgId, id: ChannelId): Promise<Record<string, unknown> | undefined> {
      return get(service, keys.endpoint(orgId, id));
    },

    /** Adds and counts a channel; refused as `channel-limit` at the limit. */
    add(channel: Channel): Change[] {
      return [
        increaseCount(service, getCounter(channel.orgId)),
        buildAddition(service, { ...keys.endpoint(channel.orgId, channel.id), ...channel }),
      ];
    },

    /** Removes and uncounts a channel; refused as `channel-missing` when it does not exist. */
    remove(orgId: OrgId, id: ChannelId): Change[] {
      const counter = getCounter(orgId);
      return [
        buildRemoval(service, keys.endpoint(orgId, id), counter.refusals),
        decreaseCount(service, counter),
      ];
    },
  };
}
