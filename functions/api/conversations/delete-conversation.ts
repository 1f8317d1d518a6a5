import { createErasure, describeErasure } from '../../conversations/erasures.ts';
import { retryOnConflict } from '../../http/api.ts';
import { buildErasure, erased } from '../erasure.ts';
import { routeHandler } from '../route-handler.ts';
import { conversations, erasures } from '../stores.ts';
import * as routes from './routes.ts';

/** Deleting a deleted conversation succeeds, so that retries are safe. */
export const handler = routeHandler(routes.deleteConversation, (request) =>
  retryOnConflict(async (again) => {
    const { tenant, params, now, effect } = request;
    const conversation = await conversations.find(tenant, params.id);
    if (conversation === undefined) return erased(await erasures.findOf(tenant, params.id));
    const erasure = createErasure('conversation', [conversation], now);
    return effect(
      erased(erasure.id),
      buildErasure(erasure, [conversation], request),
      { id: erasure.id, changes: describeErasure(erasure) },
      { 'conversation-changed': again },
    );
  }),
);
