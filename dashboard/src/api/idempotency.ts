import { useState } from 'react';

export type Key = { 'Idempotency-Key': string };

/**
 * Idempotency keys of retries (docs/specification.md, Idempotency): until it succeeds, the same content has
 * the same key and takes effect once. After that it gets a new key, as other content does.
 */
export function idempotencyKeys(): {
  (content: unknown): Key;
  /** Called after success. */
  forget(content: unknown): void;
  /** Sends a request under its key, which is dropped after success. */
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
  return useState(idempotencyKeys)[0];
}
