import { useRef } from 'react';

export type Key = { 'Idempotency-Key': string };

/**
 * Keys for what somebody may send again after nothing answered (public-api.md, POST /api/v1/webhooks): until
 * it succeeded the same content has the same key, so that it takes effect once. After that it is meant anew,
 * and has another one, as other content has.
 */
export function idempotencyKeys(): {
  (content: unknown): Key;
  /** It succeeded. */
  forget(content: unknown): void;
  /** Sends something under its key, which is forgotten when it has succeeded. */
  once<Answer>(content: unknown, send: (key: Key) => Promise<Answer>): Promise<Answer>;
} {
  const keys = new Map<string, string>();
  const keyOf = (content: unknown): Key => {
    const written = JSON.stringify(content);
    const key = keys.get(written) ?? crypto.randomUUID();
    keys.set(written, key);
    return { 'Idempotency-Key': key };
  };
  const forget = (content: unknown): void => {
    keys.delete(JSON.stringify(content));
  };
  return Object.assign(keyOf, {
    forget,
    async once<Answer>(content: unknown, send: (key: Key) => Promise<Answer>): Promise<Answer> {
      const answer = await send(keyOf(content));
      forget(content);
      return answer;
    },
  });
}

/** The keys of one form or button, as long as it is on the page. */
export function useIdempotencyKeys(): ReturnType<typeof idempotencyKeys> {
  const keys = useRef<ReturnType<typeof idempotencyKeys>>(undefined);
  keys.current ??= idempotencyKeys();
  return keys.current;
}
