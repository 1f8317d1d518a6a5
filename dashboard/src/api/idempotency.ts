import { useRef } from 'react';

/**
 * Keys for a form that somebody may send again after nothing answered (public-api.md, POST /api/v1/webhooks): the same content has the same
 * key, so that it takes effect once; other content has another.
 */
export function useIdempotencyKeys(): (content: unknown) => { 'Idempotency-Key': string } {
  const keys = useRef(new Map<string, string>());
  return (content) => {
    const written = JSON.stringify(content);
    const key = keys.current.get(written) ?? crypto.randomUUID();
    keys.current.set(written, key);
    return { 'Idempotency-Key': key };
  };
}
