import { type Client, isApiError } from '../../../sdk/src/index.ts';

/** What the key's scopes allow. */
export interface Access {
  readsEvents: boolean;
  resends: boolean;
  readsConversations: boolean;
  replies: boolean;
}

/** Of no resource. */
const NOBODY = '0'.repeat(32);

/**
 * Finds out what the key may do. No operation returns its scopes, and they are checked before a resource is
 * searched.
 * @throws ApiError for a key that is not valid
 */
export async function findAccess(client: Client, options: { signal?: AbortSignal } = {}): Promise<Access> {
  const { endpoints, deliveries, conversations } = client;
  const message = { role: 'agent', content: '-' } as const;
  const [readsEvents, resends, readsConversations, replies] = await Promise.all([
    isAllowed(endpoints.list({ limit: 1 }, options).page()),
    isAllowed(deliveries.redeliver(`whk_${NOBODY}`, `dlv_${NOBODY}`, options)),
    isAllowed(conversations.list({ limit: 1 }, options).page()),
    isAllowed(conversations.messages.create(`cnv_${NOBODY}`, message, options)),
  ]);
  return { readsEvents, resends, readsConversations, replies };
}

async function isAllowed(call: Promise<unknown>): Promise<boolean> {
  try {
    await call;
    return true;
  } catch (error) {
    if (isApiError(error, 'PERMISSION_DENIED')) return false;
    if (isApiError(error, 'NOT_FOUND')) return true;
    throw error;
  }
}
