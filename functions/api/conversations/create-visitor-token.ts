import * as z from 'zod/mini';
import { createSeal, Seal } from '../../aws/keyrings.ts';
import { refusals } from '../../http/problem.ts';
import { success } from '../../http/reply.ts';
import { parseChannelId } from '../../receivers/channels.ts';
import { createVisitorToken, VISITOR_TOKEN_SECONDS, Visit } from '../../tenancy/visitor-token.ts';
import { routeHandler } from '../route-handler.ts';
import { channels, conversations, cursorKeys } from '../stores.ts';
import * as routes from './routes.ts';

/** The idempotency record stores the parts of the token, not the token; a replay returns the same token. */
const Issued = z.extend(Visit, { seal: Seal });

export const handler = routeHandler(
  routes.createVisitorToken,
  async ({ tenant, params, now, effect }) => {
    const conversation = await conversations.find(tenant, params.id);
    if (!conversation) return refusals.notFound('conversation');
    const channelId = parseChannelId(conversation);
    const channel = channelId && (await channels.find(tenant.orgId, channelId));
    if (channel?.kind !== 'web_widget') return refusals.noWidget;
    const issued: z.infer<typeof Issued> = {
      ...tenant,
      conversationId: conversation.id,
      expiresAt: new Date(now.getTime() + VISITOR_TOKEN_SECONDS * 1000).toISOString(),
      seal: await cursorKeys(createSeal),
    };
    return effect(success(issued), []);
  },
  {
    async addSecrets(data) {
      const { seal, ...visit } = Issued.parse(data);
      const token = await cursorKeys((ring) => createVisitorToken(ring, visit, seal));
      return { token, expiresAt: visit.expiresAt };
    },
  },
);
