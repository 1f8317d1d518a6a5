import { expect } from 'vitest';
import type { Likeness, RequestLikeness } from './likeness.ts';

type Item = Record<string, unknown>;

/** What the marks of deliveries depend on. */
export interface Marking {
  /** The request of an attempt that reached the live receiver, if it did. */
  requestOf(deliveryId: unknown, attempt: unknown): RequestLikeness | undefined;
}

/**
 * The sandbox's answer that corresponds to an answer of the live organization: the same with the documented
 * marks. Any other difference is unintended.
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

/** The tier is always `sandbox` (docs/specification.md, Rate limits). */
function markedHeaders(headers: Record<string, string>): Record<string, string> {
  const tier = (value: string) => value.replace(/^"scale"/, '"sandbox"');
  const { ratelimit, 'ratelimit-policy': policy } = headers;
  return {
    ...headers,
    ...(ratelimit === undefined ? {} : { ratelimit: tier(ratelimit) }),
    ...(policy === undefined ? {} : { 'ratelimit-policy': tier(policy) }),
  };
}

/** @param marking.withRequests whether the call reads the requests of deliveries */
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
 * The unsent request is stored, and a success comes from a simulated receiver (docs/specification.md,
 * Simulated receivers).
 */
function markedDelivery(delivery: Item, marking: BodyMarking): Item {
  const { id, status, attempts, attemptLog } = delivery;
  return {
    ...delivery,
    ...(status === 'succeeded' ? { terminalReason: 'sandbox_simulated' } : {}),
    ...(marking.withRequests && attempts !== 0 ? { request: kept(marking.requestOf(id, attempts)) } : {}),
    ...(Array.isArray(attemptLog)
      ? {
          attemptLog: attemptLog.map((attempt) =>
            markedAttempt(attempt, marking.requestOf(id, attempt.number)),
          ),
        }
      : {}),
  };
}

const markedAttempt = (attempt: Item, request: RequestLikeness | undefined): Item => ({
  ...attempt,
  request: kept(request),
});

/** A request that did not reach the live receiver cannot be compared. */
const kept = (request: RequestLikeness | undefined): unknown =>
  request ?? expect.objectContaining({ method: 'POST' });
