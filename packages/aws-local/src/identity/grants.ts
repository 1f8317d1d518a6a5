import type { Adapter, Payload } from 'oidc-provider';

/**
 * In-memory store of sign-ins, sessions, codes, access and refresh tokens. They end with the run; ID tokens
 * are self-contained and stay valid.
 * @param now epoch milliseconds
 */
export function createGrants(now: () => number = Date.now): (kind: string) => Adapter {
  const entries = new Map<string, { payload: Payload; expiresAt: number }>();

  const findUnexpired = (key: string): Payload | undefined => {
    const entry = entries.get(key);
    return entry && entry.expiresAt > now() ? entry.payload : undefined;
  };
  const removeWhere = (matches: (key: string, entry: { payload: Payload; expiresAt: number }) => boolean) => {
    for (const [key, entry] of entries) if (matches(key, entry)) entries.delete(key);
  };

  return (kind) => {
    const recordKey = (id: string) => `${kind} ${id}`;
    return {
      async upsert(id, payload, expiresIn) {
        removeWhere((_, { expiresAt }) => expiresAt <= now());
        const expiresAt = expiresIn === undefined ? Number.POSITIVE_INFINITY : now() + expiresIn * 1000;
        entries.set(recordKey(id), { payload, expiresAt });
      },
      async find(id) {
        return findUnexpired(recordKey(id));
      },
      async findByUid(uid) {
        const [key] =
          [...entries].find(([key, { payload }]) => key.startsWith(recordKey('')) && payload.uid === uid) ??
          [];
        return key === undefined ? undefined : findUnexpired(key);
      },
      async findByUserCode() {
        // User codes belong to the device flow, which user pools do not have.
        return undefined;
      },
      async consume(id) {
        const payload = findUnexpired(recordKey(id));
        if (payload) payload.consumed = Math.floor(now() / 1000);
      },
      async destroy(id) {
        entries.delete(recordKey(id));
      },
      async revokeByGrantId(grantId) {
        removeWhere((_, { payload }) => payload.grantId === grantId);
      },
    };
  };
}
