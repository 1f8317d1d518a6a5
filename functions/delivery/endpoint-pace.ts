import { TimedCache } from '../aws/cache.ts';
import type { ReceiverId } from '../aws/ids.ts';
import type { Log } from '../aws/log-codes.ts';
import type { Endpoint } from '../receivers/endpoint.ts';
import {
  computeMark,
  computePace,
  hasStalled,
  type Pace,
  type PaceMark,
  type PaceSign,
} from '../receivers/pace.ts';

export interface PaceMarks {
  /** Replaces the mark that was seen by another one, or by none. Does nothing when it has changed since. */
  setPace(
    orgId: Endpoint['orgId'],
    id: Endpoint['id'],
    seen: PaceMark | undefined,
    mark: PaceMark | undefined,
  ): Promise<void>;
}

type Marked = Pick<Endpoint, 'id' | 'orgId' | 'pace'>;

/** Reports how fast an endpoint is in one attempt. */
export interface AttemptTimer {
  /** The attempt is slow. */
  onSlow(): void;
  onEnd(result: { status?: number }, elapsedSeconds: number): void;
  /** Resolves when the worker may end. */
  done(): Promise<void>;
}

/**
 * Marks kept in the process, so that it need not read them back. They count for longer than a batch and than
 * a read lags; after that the endpoint's row is current.
 */
const CACHED = { capacity: 1000, freshMs: 30_000 };

/**
 * Knows the pace of endpoints, by their rows and by the attempts of this process. An endpoint that stays fast
 * takes no write.
 * @param attemptSeconds the receiver's deadline
 */
export function endpointPaces(
  { marks, log, now }: { marks: PaceMarks; log: Log; now: () => Date },
  attemptSeconds: number,
) {
  const written = new TimedCache<ReceiverId, { mark: PaceMark | undefined }>(CACHED);

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
    return () => marks.setPace(endpoint.orgId, endpoint.id, seen, mark);
  }

  return {
    of: (endpoint: Marked): Pace => computePace(markOf(endpoint), now()),

    watch(endpoint: Marked, traceId?: string): AttemptTimer {
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
        onEnd(result, elapsedSeconds) {
          if (hasStalled(result, elapsedSeconds, attemptSeconds)) noteNext('stalled');
          else if (isSlow) noteNext('ended slowly');
          else noteNext(result.status === undefined ? 'ended fast' : 'answered fast');
        },
        done: () => writing,
      };
    },
  };
}
