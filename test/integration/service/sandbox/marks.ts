import { expect } from 'vitest';
import type { Likeness, RequestLikeness } from './likeness.ts';

type Item = Record<string, unknown>;

/** What the marks of deliveries are made of. */
export interface Marking {
  /** The request of an attempt as it reached the live receiver, if it did. */
  requestOf(deliveryId: unknown, attempt: unknown): RequestLikeness | undefined;
  /** Whether time passes faster at an endpoint of a sandbox. */
  isFast(webhookId: unknown): boolean;
}

/**
 * The answer of a sandbox that goes with an answer of the live organization: the same but for the documented
 * marks. Whatever else differs is a difference between the two that nobody has decided.
 */
export function marked({ call, status, headers, body }: Likeness, marking: Marking): Likeness {
  const withRequests = call.includes('include=request');
  return {
    call,
    status,
    headers: markedHeaders(headers),
    body: markedBody(body, { ...marking, withRequests }),
  };
}

/** Of which tier it is: the lowest, whatever the live organization has (public-api.md, Limits). */
function markedHeaders(headers: Record<string, string>): Record<string, string> {
  const tier = (value: string) => value.replace(/^"scale"/, '"sandbox"');
  const { ratelimit, 'ratelimit-policy': policy } = headers;
  return {
    ...headers,
    ...(ratelimit === undefined ? {} : { ratelimit: tier(ratelimit) }),
    ...(policy === undefined ? {} : { 'ratelimit-policy': tier(policy) }),
  };
}

/** @param marking.withRequests whether the call asks for the requests of deliveries */
type BodyMarking = Marking & { withRequests: boolean };

function markedBody(value: unknown, marking: BodyMarking): unknown {
  if (Array.isArray(value)) return value.map((item) => markedBody(item, marking));
  if (typeof value !== 'object' || value === null) return value;
  const item: Item = Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, markedBody(inner, marking)]),
  );
  return 'webhookId' in item && 'eventId' in item ? markedDelivery(item, marking) : item;
}

/**
 * decisions.md, Deliveries and Sandbox: what would have been sent is kept, and its success is one of a
 * simulated receiver.
 */
function markedDelivery(delivery: Item, marking: BodyMarking): Item {
  const { id, webhookId, status, attempts, attemptLog } = delivery;
  const fast = marking.isFast(webhookId) && attempts !== 0;
  return {
    ...delivery,
    ...(status === 'succeeded' ? { terminalReason: 'sandbox_simulated' } : {}),
    ...(fast ? { atRealSpeed: { nextRetryAt: null, terminalAt: '<time>' } } : {}),
    ...(marking.withRequests && attempts !== 0 ? { request: kept(marking.requestOf(id, attempts)) } : {}),
    ...(Array.isArray(attemptLog)
      ? {
          attemptLog: attemptLog.map((attempt) =>
            markedAttempt(attempt, marking.requestOf(id, attempt.number), fast),
          ),
        }
      : {}),
  };
}

const markedAttempt = (attempt: Item, request: RequestLikeness | undefined, fast: boolean): Item => ({
  ...attempt,
  request: kept(request),
  ...(fast ? { atRealSpeed: { startedAt: '<time>', durationMs: '<milliseconds>' } } : {}),
});

/** What never reached the live receiver had no witness. */
const kept = (request: RequestLikeness | undefined): unknown =>
  request ?? expect.objectContaining({ method: 'POST' });
