import * as z from 'zod/mini';
import { TimedCache } from '../aws/cache.ts';
import { type OrgId, type ReceiverId, Timestamp } from '../aws/ids.ts';
import type { Log } from '../aws/log-codes.ts';

/*
 * How fast an endpoint answers, as its attempts have shown it. It decides the queue of its messages, so that
 * slow endpoints delay only each other, and those that never answer cost little.
 */

/** `new`: no attempt was fast yet, since registration or since the last change of the URL. */
export const PaceMark = z.object({
  is: z.enum(['new', 'slow', 'stalled']),
  /** Before that, a fast answer does not end the mark. Absent in that of a new endpoint. */
  until: z.optional(Timestamp),
});
export type PaceMark = z.infer<typeof PaceMark>;
export const NEW: PaceMark = { is: 'new' };

/** A new endpoint counts as slow, so that a burst at endpoints that never answer cannot hold other queues. */
export type Pace = 'fast' | 'slow' | 'stalled';

/**
 * Seconds without an answer after the request was sent that mark an endpoint as slow. DNS, TCP and TLS do not
 * count: to another continent they alone can take half a second.
 */
export const SLOW_AFTER_SECONDS = 1;
/** Seconds to connect that mark an endpoint as slow. */
export const SLOW_TO_CONNECT_SECONDS = 3;
/** How long the mark lasts. Marking again starts anew. */
const SLOW_SECONDS = 120;
/**
 * How long a mark as stalled lasts: the longest wait between attempts (docs/specification.md, Limits), so
 * that a single delivery finds it at its next attempt.
 */
const STALLED_SECONDS = 3600;
/** Share of the deadline from which an attempt without an answer counts as stalled: clocks are not exact. */
const NEARLY = 0.95;

/**
 * Whether an attempt lasted until the deadline without an answer.
 * @param elapsedSeconds by the worker's clock, also where a sandbox's time passes faster
 */
export const hasStalled = (
  { status }: { status?: number },
  elapsedSeconds: number,
  deadlineSeconds: number,
): boolean => status === undefined && elapsedSeconds >= NEARLY * deadlineSeconds;

const later = (now: Date, seconds: number): string => new Date(now.getTime() + seconds * 1000).toISOString();
const lastsBeyond = ({ until = '' }: PaceMark, time: string): boolean => until > time;

export function computePace(mark: PaceMark | undefined, now: Date): Pace {
  if (mark === undefined) return 'fast';
  return mark.is === 'stalled' && lastsBeyond(mark, now.toISOString()) ? 'stalled' : 'slow';
}

/**
 * What an attempt shows: while it lasts, that it is slow; at its end, that it stalled, was answered fast, or
 * neither.
 */
export type PaceSign = 'slow' | 'stalled' | 'answered fast' | 'ended fast' | 'ended slowly';

/**
 * Computes an endpoint's mark from what an attempt shows. A mark is renewed in the second half of its time,
 * so that not every attempt writes it. A stalled endpoint becomes fast by two fast answers.
 * @returns `mark` itself when nothing changes
 */
function computeMark(mark: PaceMark | undefined, sign: PaceSign, now: Date): PaceMark | undefined {
  const isStalled = computePace(mark, now) === 'stalled';
  switch (sign) {
    case 'slow':
      if (isStalled || (mark?.is === 'slow' && lastsBeyond(mark, later(now, SLOW_SECONDS / 2)))) return mark;
      return { is: 'slow', until: later(now, SLOW_SECONDS) };
    case 'stalled':
      if (isStalled && mark !== undefined && lastsBeyond(mark, later(now, STALLED_SECONDS / 2))) return mark;
      return { is: 'stalled', until: later(now, STALLED_SECONDS) };
    case 'ended slowly':
      return isStalled ? { is: 'slow', until: later(now, SLOW_SECONDS) } : mark;
    case 'ended fast':
      return isStalled ? NEW : mark;
    case 'answered fast':
      if (isStalled) return NEW;
      return mark !== undefined && lastsBeyond(mark, now.toISOString()) ? mark : undefined;
  }
}

type Marked = { id: ReceiverId; orgId: OrgId; pace?: PaceMark | undefined };

/** Replaces the mark that was seen by another one, or by none. Does nothing when it has changed since. */
export type SetPace = (
  orgId: OrgId,
  id: ReceiverId,
  seen: PaceMark | undefined,
  mark: PaceMark | undefined,
) => Promise<void>;

/**
 * Knows the pace of endpoints, by their rows and by the attempts of this process. An endpoint that stays fast
 * takes no write.
 * @param attemptSeconds the receiver's deadline
 */
export function endpointPaces(
  { setPace, log, now }: { setPace: SetPace; log: Log; now: () => Date },
  attemptSeconds: number,
) {
  // Marks of this process, which need not be read back. They count for longer than a batch and than a read
  // lags; after that the endpoint's row is current.
  const written = new TimedCache<ReceiverId, { mark: PaceMark | undefined }>({
    capacity: 1000,
    freshMs: 30_000,
  });

  function markOf({ id, pace }: Marked): PaceMark | undefined {
    const own = written.get(id, now());
    return own === undefined ? pace : own.mark;
  }

  /** The process knows the mark at once. @returns the write, if one is needed */
  function note(endpoint: Marked, sign: PaceSign): (() => Promise<void>) | undefined {
    const seen = markOf(endpoint);
    const mark = computeMark(seen, sign, now());
    if (mark === seen) return undefined;
    written.set(endpoint.id, { mark }, now());
    return () => setPace(endpoint.orgId, endpoint.id, seen, mark);
  }

  return {
    of: (endpoint: Marked): Pace => computePace(markOf(endpoint), now()),

    /** Takes how fast an endpoint is in one attempt. */
    watch(endpoint: Marked, traceId?: string) {
      let isSlow = false;
      let writing = Promise.resolve();
      const noteNext = (sign: PaceSign) => {
        const write = note(endpoint, sign);
        if (write === undefined) return;
        const code = sign === 'slow' ? 'SLOW_NOT_MARKED' : 'STALL_NOT_NOTED';
        writing = writing
          .then(write)
          .catch((error: unknown) => log(code, { webhookId: endpoint.id, traceId, error }));
      };
      return {
        onSlow() {
          isSlow = true;
          noteNext('slow');
        },
        onEnd(result: { status?: number }, elapsedSeconds: number) {
          if (hasStalled(result, elapsedSeconds, attemptSeconds)) noteNext('stalled');
          else if (isSlow) noteNext('ended slowly');
          else noteNext(result.status === undefined ? 'ended fast' : 'answered fast');
        },
        /** Resolves when the worker may end. */
        done: () => writing,
      };
    },
  };
}
