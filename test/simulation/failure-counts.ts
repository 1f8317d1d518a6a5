import type { ReceiverId } from '../../functions/aws/ids.ts';
import type { Endpoint } from '../../functions/receivers/endpoint.ts';
import { FAILURES_BEFORE_WARNING, FAILURES_IN_A_ROW } from './promises.ts';

/** An endpoint's failures in a row, in the order in which ends were committed. */
interface Count {
  failures: number;
  isDisabled: boolean;
  isPaused: boolean;
  /** The last true times at which it was not active, and at which it had no failures or was not active. */
  inactiveMs: number;
  idleMs: number;
}

const ACTIVE = { failures: 0, isDisabled: false, isPaused: false };

/** The end of a delivery as its request has committed it. */
export interface CommittedEnd {
  status: 'succeeded' | 'exhausted';
  /** Whether the request has changed the endpoint too. */
  isChanged: boolean;
  /** True time of the attempt's end: the endpoint is read after it. */
  fromMs: number;
  /** True time of the commit. */
  nowMs: number;
}

/**
 * The expected counts of consecutive failures (docs/specification.md, Webhook endpoint status): each end that
 * is committed as a failure adds one, and a success whose endpoint has failures when it is read, after the
 * attempt, sets them to 0 with its commit.
 */
export class FailureCounts {
  readonly #counts = new Map<ReceiverId, Count>();
  #disablings = 0;
  /** How often each endpoint, deleted ones included, had as many failures in a row as bring a warning. */
  readonly warned = new Map<ReceiverId, number>();
  /** What endpoints have come to by deliveries, in order: a type of event and an endpoint. */
  readonly states: string[] = [];

  get disablings(): number {
    return this.#disablings;
  }

  registered({ id, consecutiveFailures: failures }: Endpoint, nowMs: number): void {
    this.#counts.set(id, { ...ACTIVE, failures, inactiveMs: nowMs, idleMs: nowMs });
  }

  /** An operator has disabled an endpoint, or has enabled it again without failures. */
  set(id: ReceiverId, to: 'disabled' | 'enabled', nowMs: number): void {
    const isDisabled = to === 'disabled';
    this.#counts.set(id, { ...ACTIVE, isDisabled, inactiveMs: nowMs, idleMs: nowMs });
  }

  /** Its owner has paused an endpoint, or ended its pause. */
  paused(id: ReceiverId, isPaused: boolean, nowMs: number): void {
    const count = this.#counts.get(id);
    if (count !== undefined) Object.assign(count, { isPaused, inactiveMs: nowMs });
  }

  deleted(id: ReceiverId): void {
    this.#counts.delete(id);
  }

  /**
   * A delivery's end was committed.
   * @param present the endpoint as it is now
   * @returns what is wrong
   */
  ended(id: ReceiverId, end: CommittedEnd, present: Endpoint | undefined): string | undefined {
    const { status, isChanged, fromMs, nowMs } = end;
    const count = this.#counts.get(id);
    if (count === undefined) return isChanged ? 'an endpoint that is deleted was changed' : undefined;
    if (count.isDisabled) return isChanged ? 'an endpoint that is disabled was changed' : undefined;
    if (count.failures === 0) count.idleMs = nowMs;
    if (count.isPaused && status === 'exhausted')
      return isChanged ? 'a failure was counted during a pause' : undefined;
    // The endpoint may have been read while it was not active, or while there was nothing to reset.
    if (!isChanged && status === 'exhausted')
      return count.inactiveMs >= fromMs ? undefined : 'a failure was not counted';
    if (!isChanged)
      return count.idleMs >= fromMs ? undefined : `a success has left ${count.failures} failures before it`;
    const before = count.failures;
    count.failures = status === 'succeeded' ? 0 : before + 1;
    if (count.failures === 0 && before >= FAILURES_BEFORE_WARNING)
      this.states.push(`webhook.recovered ${id}`);
    if (count.failures === 0) count.idleMs = nowMs;
    const counted = present?.consecutiveFailures;
    if (counted !== count.failures)
      return `${counted} failures are counted where ${count.failures} were committed in a row`;
    if (status === 'exhausted' && counted === FAILURES_BEFORE_WARNING) {
      this.warned.set(id, (this.warned.get(id) ?? 0) + 1);
      this.states.push(`webhook.failing ${id}`);
    }
    count.isDisabled = counted >= FAILURES_IN_A_ROW;
    if ((present?.status === 'auto_disabled') !== count.isDisabled)
      return `after ${counted} failures it is ${present?.status}`;
    if (count.isDisabled) {
      this.#disablings += 1;
      this.states.push(`webhook.disabled ${id}`);
    }
    return undefined;
  }
}
