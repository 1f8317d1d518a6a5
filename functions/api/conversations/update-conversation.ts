import { retryOnConflict } from '../../http/api.ts';
import { refusals } from '../../http/problem.ts';
import { success } from '../../http/reply.ts';
import { parseChannelId } from '../../receivers/channels.ts';
import { compareFields } from '../../tenancy/audit.ts';
import { routeHandler } from '../route-handler.ts';
import { channels, conversations } from '../stores.ts';
import * as routes from './routes.ts';

/** Messages that are recorded from then on go to the new channel. */
export const handler = routeHandler(
  routes.updateConversation,
  async ({ tenant, params, body, now, effect }) => {
    const channelId =
      body.channelId === undefined ? undefined : parseChannelId({ channelId: body.channelId });
    if (channelId !== undefined && (await channels.find(tenant.orgId, channelId)) === undefined)
      return refusals.unknownChannel;
    return retryOnConflict(async (again) => {
      const conversation = await conversations.find(tenant, params.id);
      if (!conversation) return refusals.notFound('conversation');
      const updated = { ...conversation, ...body };
      if (compareFields(Object.keys(body), conversation, updated).length === 0) return success(conversation);
      return effect(
        success({ ...updated, updatedAt: now.toISOString() }),
        [conversations.update(tenant, conversation, body, now)],
        { 'conversation-changed': again },
      );
    });
  },
);
