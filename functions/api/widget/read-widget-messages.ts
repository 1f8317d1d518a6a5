import type { Message } from '../../domain/conversation.ts';
import { requirePermit } from '../../domain/gate.ts';
import { MessageId } from '../../domain/ids.ts';
import { messageStore } from '../../store/conversations.ts';
import { paginate } from '../pages.ts';
import { tables } from '../route-handler.ts';
import { visitorGate, visitorRouteHandler } from '../visitor-route-handler.ts';
import * as routes from './routes.ts';
import { VisibleRole } from './schemas.ts';

const messages = messageStore(tables.service);

/**
 * Returns the messages that a visitor has not read, oldest first; none in a sandbox (docs/specification.md,
 * Sandbox rules). The cursor is the last message examined, so that hidden ones are examined once. It
 * continues with messages to come, and is null only while there are none.
 */
export const handler = visitorRouteHandler(routes.readWidgetMessages, (request) => {
  const { tenant, conversationId } = request;
  return paginate(
    routes.readWidgetMessages,
    request,
    async ({ limit, after }) => {
      const found = await visitorGate<Message[]>(tenant.orgId, {
        live(permit) {
          requirePermit(permit);
          const last = after === undefined ? undefined : MessageId.parse(after);
          return messages.after(tenant, conversationId, { after: last, limit });
        },
        sandbox: async () => [],
      });
      const next = found.at(-1)?.id ?? after;
      return {
        items: found.filter(({ role }) => VisibleRole.safeParse(role).success),
        ...(next === undefined ? {} : { next }),
      };
    },
    [conversationId],
  );
});
