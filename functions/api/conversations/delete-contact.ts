import type { ErasureId } from '../../aws/ids.ts';
import { createErasure, describeErasure, ERASED_AT_ONCE } from '../../conversations/erasures.ts';
import type { ApiRequest } from '../../http/api.ts';
import { refusals } from '../../http/problem.ts';
import type { Reply } from '../../http/reply.ts';
import type { RefusalOf } from '../../http/route.ts';
import { buildErasure, erased } from '../erasure.ts';
import { routeHandler } from '../route-handler.ts';
import { conversations } from '../stores.ts';
import * as routes from './routes.ts';

/** Transactions of one request. Of a contact with more conversations, a repeated request erases the rest. */
const MAX_ERASURES = 5;

/**
 * Erases an external user's conversations, the newest first, in as many transactions as they need: the
 * response says that all are erased, or that the request is to be repeated.
 */
async function eraseContact(
  request: ApiRequest<typeof routes.deleteContact>,
  externalUserId: string,
  left = MAX_ERASURES,
  previousId?: ErasureId,
): Promise<Reply<RefusalOf<typeof routes.deleteContact>>> {
  const { tenant, now, effect } = request;
  const page = { limit: ERASED_AT_ONCE };
  const { items: own, next } = await conversations.list(tenant, page, { externalUserId });
  if (own.length === 0 && next === undefined) return erased(previousId);
  if (left === 0) return refusals.busy;
  const eraseRest = (id: ErasureId | undefined) => eraseContact(request, externalUserId, left - 1, id);
  // Another request has erased them meanwhile.
  if (own.length === 0) return eraseRest(previousId);
  const erasure = createErasure('contact', own, now, previousId);
  let isErased = true;
  const reply = await effect(
    erased(erasure.id),
    buildErasure(erasure, own, request),
    { id: erasure.id, changes: describeErasure(erasure) },
    {
      'conversation-changed': () => {
        isErased = false;
        return eraseRest(previousId);
      },
    },
  );
  return isErased ? eraseRest(erasure.id) : reply;
}

export const handler = routeHandler(routes.deleteContact, async (request) => {
  const externalUserId = decode(request.params.externalUserId);
  return externalUserId === undefined ? erased(undefined) : eraseContact(request, externalUserId);
});

/**
 * API Gateway passes on path parameters of a REST API as they were sent, percent-encoded
 * (github.com/serverless/serverless/issues/5037).
 */
function decode(parameter: string): string | undefined {
  try {
    return decodeURIComponent(parameter);
  } catch {
    return undefined;
  }
}
