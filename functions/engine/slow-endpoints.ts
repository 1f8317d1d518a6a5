import type { Endpoint } from '../domain/endpoint.ts';
import type { ReceiverId } from '../domain/ids.ts';
import { isSlow, SLOW_SECONDS } from '../domain/lanes.ts';
import type { Log } from './log.ts';

export interface SlowMarks {
  markSlow(orgId: Endpoint['orgId'], id: ReceiverId, until: Date): Promise<void>;
}

/** Marks that this process has set, so that it does not depend on reading them back. */
const MOST_REMEMBERED = 1000;

/** Which endpoints keep workers waiting: as their items say, and as this process has just found out. */
export function slowEndpoints({ marks, log, now }: { marks: SlowMarks; log: Log; now: () => Date }) {
  const own = new Map<ReceiverId, string>();

  function remember(id: ReceiverId, until: string): void {
    if (own.size >= MOST_REMEMBERED) own.clear();
    own.set(id, until);
  }

  return {
    has(endpoint: Pick<Endpoint, 'id' | 'slowUntil'>): boolean {
      return isSlow(endpoint, now()) || isSlow({ slowUntil: own.get(endpoint.id) }, now());
    },

    /** For one attempt: what to call when it is slow, and what to wait for before its worker may end. */
    watch(
      endpoint: Pick<Endpoint, 'id' | 'orgId' | 'slowUntil'>,
      traceId?: string,
    ): { onSlow(): void; done(): Promise<void> } {
      let marking = Promise.resolve();
      return {
        onSlow() {
          const until = new Date(now().getTime() + SLOW_SECONDS * 1000);
          const soon = new Date(until.getTime() - (SLOW_SECONDS / 2) * 1000);
          // Marked for long enough, by whomever.
          if (isSlow(endpoint, soon) || isSlow({ slowUntil: own.get(endpoint.id) }, soon)) return;
          remember(endpoint.id, until.toISOString());
          marking = marks.markSlow(endpoint.orgId, endpoint.id, until).catch((error: unknown) => {
            log('SLOW_NOT_MARKED', { webhookId: endpoint.id, traceId, error });
          });
        },
        done: () => marking,
      };
    },
  };
}
