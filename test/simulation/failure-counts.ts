import type { EndpointOutcome } from '../../functions/domain/delivery.ts';
import type { Endpoint } from '../../functions/domain/endpoint.ts';
import type { ReceiverId } from '../../functions/domain/ids.ts';
import { FAILURES_IN_A_ROW } from './promises.ts';

interface Count {
  failures: number;
  disabled: boolean;
  /** Since when there are failures; undefined while there are none. */
  failingSinceMs: number | undefined;
}

/**
 * What the failures of endpoints come to, by the order in which deliveries ended. A delivery that succeeds need not write to an endpoint
 * that had no failures when its attempt began: it then counts as having ended before the failures that were counted meanwhile.
 */
export class FailureCounts {
  readonly #counts = new Map<ReceiverId, Count>();
  #disablings = 0;

  get disablings(): number {
    return this.#disablings;
  }

  registered({ id, consecutiveFailures }: Endpoint, nowMs: number): void {
    const failingSinceMs = consecutiveFailures > 0 ? nowMs : undefined;
    this.#counts.set(id, { failures: consecutiveFailures, disabled: false, failingSinceMs });
  }

  deleted(id: ReceiverId): void {
    this.#counts.delete(id);
  }

  /**
   * A delivery ended.
   * @param readMs the time that the endpoint's state is known from at which its attempt was made
   * @param present the endpoint as it is now
   * @returns what is wrong
   */
  ended(
    ended: 'succeeded' | 'exhausted',
    { endpoint: { id }, effect }: EndpointOutcome,
    readMs: number,
    nowMs: number,
    present: Endpoint | undefined,
  ): string | undefined {
    const count = this.#counts.get(id);
    if (count === undefined || count.disabled)
      return effect === 'none' ? undefined : `an endpoint that has ended took the effect ${effect}`;
    if (ended === 'succeeded') {
      const hadNone = count.failingSinceMs === undefined || count.failingSinceMs >= readMs;
      if (effect === 'none') return hadNone ? undefined : `a success left ${count.failures} failures`;
      count.failures = 0;
      count.failingSinceMs = undefined;
    } else {
      count.failures += 1;
      count.failingSinceMs ??= nowMs;
      count.disabled = count.failures >= FAILURES_IN_A_ROW;
      if (count.disabled) this.#disablings += 1;
    }
    return faultOf(count, present);
  }
}

function faultOf({ failures, disabled }: Count, present: Endpoint | undefined): string | undefined {
  if (present?.consecutiveFailures !== failures)
    return `${present?.consecutiveFailures} failures are counted where ${failures} came one after the other`;
  if ((present.status === 'auto_disabled') !== disabled)
    return `after ${failures} failures it is ${present.status}`;
  return undefined;
}
