import { type Client, isApiError } from '../../../sdk/src/index.ts';

/** What the key's scopes allow. */
export interface Access {
  reads: boolean;
  resends: boolean;
}

/** Identifiers of no resource. */
const NO_ENDPOINT = `whk_${'0'.repeat(32)}`;
const NO_DELIVERY = `dlv_${'0'.repeat(32)}`;

/**
 * Finds out what the key may do. No operation returns its scopes, and they are checked before a resource is
 * searched.
 * @throws ApiError for a key that is not valid
 */
export async function findAccess(client: Client, options: { signal?: AbortSignal } = {}): Promise<Access> {
  const [reads, resends] = await Promise.all([
    isAllowed(client.endpoints.list({ limit: 1 }, options).page()),
    isAllowed(client.deliveries.redeliver(NO_ENDPOINT, NO_DELIVERY, options)),
  ]);
  return { reads, resends };
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
