import type { Adapter, Payload } from 'oidc-provider';

/**
 * In-memory store of sign-ins, sessions, codes, access and refresh tokens. They end with the run; ID tokens
 * are self-contained and stay valid.
 * @param now epoch milliseconds
 */
export function createGrants(now: () => number = Date.now): (kind: string) => Adapter {
  const entries = new Map<string, { payload: Payload; expiresAt: number }>();

  const living = (key: string): Payload | undefined => {
    const entry = entries.get(key);
    return entry && entry.expiresAt > now() ? entry.payload : undefined;
  };
  const removeWhere = (matches: (key: string, entry: { payload: Payload; expiresAt: number }) => boolean) => {
    for (const [key, entry] of entries) if (matches(key, entry)) entries.delete(key);
  };

  return (kind) => {
    const keyOf = (id: string) => `${kind} ${id}`;
    return {
      async upsert(id, payload, expiresIn) {
        removeWhere((_, { expiresAt }) => expiresAt <= now());
        const expiresAt = expiresIn === undefined ? Number.POSITIVE_INFINITY : now() + expiresIn * 1000;
        entries.set(keyOf(id), { payload, expiresAt });
      },
      async find(id) {
        return living(keyOf(id));
      },
      async findByUid(uid) {
        const [key] =
          [...entries].find(([key, { payload }]) => key.startsWith(keyOf('')) && payload.uid === uid) ?? [];
        return key === undefined ? undefined : living(key);
      },
      async findByUserCode() {
        // User codes belong to the device flow, which user pools do not have.
        return undefined;
      },
      async consume(id) {
        const payload = living(keyOf(id));
        if (payload) payload.consumed = Math.floor(now() / 1000);
      },
      async destroy(id) {
        entries.delete(keyOf(id));
      },
      async revokeByGrantId(grantId) {
        removeWhere((_, { payload }) => payload.grantId === grantId);
      },
    };
  };
}
