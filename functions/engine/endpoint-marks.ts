import type { Endpoint } from '../domain/endpoint.ts';
import type { ReceiverId } from '../domain/ids.ts';
import { isMarkedSlow, isStalled, SLOW_SECONDS, STALLED_SECONDS } from '../domain/lanes.ts';
import type { Log } from '../platform/log-codes.ts';

export interface SlowMarks {
  /** Marks an endpoint as slow and unproven. */
  markSlow(orgId: Endpoint['orgId'], id: ReceiverId, until: Date): Promise<void>;
  /** Ends `unproven`, unless the endpoint is marked as slow at `now`. */
  markProven(orgId: Endpoint['orgId'], id: ReceiverId, now: Date): Promise<void>;
}

/** Marks kept in the process, so that it need not read them back. */
const MAX_CACHED = 1000;
/** Longer than a batch and than a read lags; after that the endpoint's row is current. Milliseconds. */
const PROVEN_MS = 30_000;

/** Reports how fast an endpoint is in one attempt. */
export interface AttemptTimer {
  /** The endpoint is slow. */
  onSlow(): void;
  /** The endpoint answered, with any status. */
  onAnswer(): void;
  /** Resolves when the worker may end. */
  done(): Promise<void>;
}

/** Knows which endpoints are slow, by their rows and by the attempts of this process. */
export function slowEndpoints({ marks, log, now }: { marks: SlowMarks; log: Log; now: () => Date }) {
  const slow = new Map<ReceiverId, string>();
  const proven = new Map<ReceiverId, number>();

  function cacheMark<T>(known: Map<ReceiverId, T>, id: ReceiverId, what: T): void {
    if (known.size >= MAX_CACHED) known.clear();
    known.set(id, what);
  }

  const isMarked = (endpoint: Pick<Endpoint, 'id' | 'slowUntil'>, at: Date): boolean =>
    [endpoint.slowUntil, slow.get(endpoint.id)].some(
      (slowUntil) => slowUntil !== undefined && isMarkedSlow({ slowUntil }, at),
    );

  return {
    has(endpoint: Pick<Endpoint, 'id' | 'slowUntil' | 'unproven'>): boolean {
      return endpoint.unproven === true || isMarked(endpoint, now());
    },

    watch(
      endpoint: Pick<Endpoint, 'id' | 'orgId' | 'slowUntil' | 'unproven'>,
      traceId?: string,
    ): AttemptTimer {
      const { id, orgId, unproven } = endpoint;
      let isSlowAttempt = false;
      let marking = Promise.resolve();
      const logFailure = (mark: Promise<void>) =>
        mark.catch((error: unknown) => {
          log('SLOW_NOT_MARKED', { webhookId: id, traceId, error });
        });
      return {
        onSlow() {
          isSlowAttempt = true;
          const until = new Date(now().getTime() + SLOW_SECONDS * 1000);
          const halfTime = new Date(until.getTime() - (SLOW_SECONDS / 2) * 1000);
          // Another attempt has set the mark for long enough.
          if (isMarked(endpoint, halfTime)) return;
          cacheMark(slow, id, until.toISOString());
          proven.delete(id);
          marking = logFailure(marks.markSlow(orgId, id, until));
        },
        onAnswer() {
          const at = now();
          if (isSlowAttempt || unproven !== true || isMarked(endpoint, at)) return;
          if (at.getTime() - (proven.get(id) ?? 0) < PROVEN_MS) return;
          cacheMark(proven, id, at.getTime());
          marking = logFailure(marks.markProven(orgId, id, at));
        },
        done: () => marking,
      };
    },
  };
}

export interface StalledMarks {
  markStalled(orgId: Endpoint['orgId'], id: ReceiverId, until: Date): Promise<void>;
  /** Removes the mark that was read; one renewed since stays. */
  endStalled(orgId: Endpoint['orgId'], id: ReceiverId, seen: string): Promise<void>;
}

/**
 * Longer than a batch and than a read lags, and no longer: another process may have removed the mark.
 * Milliseconds.
 */
const CACHED_MS = 30_000;

/** Knows which endpoints are stalled, by their rows and by the attempts of this process. */
export function stalledEndpoints({ marks, log, now }: { marks: StalledMarks; log: Log; now: () => Date }) {
  /** `ended`: the removed mark; undefined for a mark that was set. */
  const cached = new Map<ReceiverId, { at: number; ended?: string }>();

  function cacheMark(id: ReceiverId, ended?: string): void {
    if (cached.size >= MAX_CACHED) cached.clear();
    cached.set(id, { at: now().getTime(), ...(ended === undefined ? {} : { ended }) });
  }

  function getCached(id: ReceiverId) {
    const known = cached.get(id);
    return known !== undefined && now().getTime() - known.at < CACHED_MS ? known : undefined;
  }

  /** Whether the mark lasts beyond `at`, as far as this process knows. */
  function isMarked(endpoint: Pick<Endpoint, 'id' | 'stalledUntil'>, at: Date): boolean {
    return isStalled(endpoint, at) && getCached(endpoint.id)?.ended !== endpoint.stalledUntil;
  }

  const hasJustMarked = (id: ReceiverId): boolean => {
    const known = getCached(id);
    return known !== undefined && known.ended === undefined;
  };

  return {
    has(endpoint: Pick<Endpoint, 'id' | 'stalledUntil'>): boolean {
      return isMarked(endpoint, now()) || hasJustMarked(endpoint.id);
    },

    /**
     * Records the end of an attempt. An endpoint without a mark whose attempts do not stall takes no write.
     * @returns resolves when the worker may end
     */
    async note(
      endpoint: Pick<Endpoint, 'id' | 'orgId' | 'stalledUntil'>,
      stalled: boolean,
      traceId?: string,
    ): Promise<void> {
      const { orgId, id, stalledUntil } = endpoint;
      try {
        if (stalled) {
          const until = new Date(now().getTime() + STALLED_SECONDS * 1000);
          const halfTime = new Date(until.getTime() - (STALLED_SECONDS / 2) * 1000);
          if (isMarked(endpoint, halfTime) || hasJustMarked(id)) return;
          cacheMark(id);
          await marks.markStalled(orgId, id, until);
        } else if (stalledUntil !== undefined && isMarked(endpoint, now())) {
          cacheMark(id, stalledUntil);
          await marks.endStalled(orgId, id, stalledUntil);
        }
      } catch (error) {
        log('STALL_NOT_NOTED', { webhookId: id, traceId, error });
      }
    },
  };
}
