import type { Endpoint } from '../../functions/domain/endpoint.ts';
import type { ReceiverId } from '../../functions/domain/ids.ts';
import { FAILURES_BEFORE_WARNING, FAILURES_IN_A_ROW } from './promises.ts';

/** All ends of an endpoint's deliveries so far, by their true times. */
interface Ends {
  failuresMs: number[];
  successesMs: number[];
  /** From the first to the last of the failures that have disabled it. */
  disabledBy: { firstMs: number; lastMs: number } | undefined;
}

/**
 * The expected failure counts, in the order of `terminalAt` (docs/specification.md, Webhook endpoint status):
 * ten failures without a success between them disable the endpoint, in any order of recording. Of ends in one
 * millisecond either may be the first.
 */
export class FailureCounts {
  readonly #ends = new Map<ReceiverId, Ends>();
  #disablings = 0;
  /** How often each endpoint, deleted ones included, had as many failures in a row as bring a warning. */
  readonly warned = new Map<ReceiverId, number>();

  get disablings(): number {
    return this.#disablings;
  }

  registered({ id, consecutiveFailures }: Endpoint, nowMs: number): void {
    const failuresMs = Array.from({ length: consecutiveFailures }, () => nowMs);
    this.#ends.set(id, { failuresMs, successesMs: [], disabledBy: undefined });
  }

  /**
   * An operator has disabled an endpoint, or has enabled it again without failures: as after a success, only
   * later ends count.
   */
  set(id: ReceiverId, to: 'disabled' | 'enabled', nowMs: number): void {
    const disabledBy = { firstMs: Number.POSITIVE_INFINITY, lastMs: Number.NEGATIVE_INFINITY };
    const ends = { failuresMs: [], successesMs: [nowMs] };
    this.#ends.set(id, { ...ends, disabledBy: to === 'disabled' ? disabledBy : undefined });
  }

  deleted(id: ReceiverId): void {
    this.#ends.delete(id);
  }

  /**
   * A delivery's end was recorded.
   * @param end its true time, and whether its request has changed the endpoint too
   * @param present the endpoint as it is now
   * @returns what is wrong
   */
  ended(
    id: ReceiverId,
    ended: 'succeeded' | 'exhausted',
    { isChanged, atMs }: { isChanged: boolean; atMs: number },
    present: Endpoint | undefined,
  ): string | undefined {
    const ends = this.#ends.get(id);
    if (ends === undefined) return isChanged ? 'an endpoint that is deleted was changed' : undefined;
    if (ends.disabledBy !== undefined) return faultOfLate(ended, isChanged, atMs, ends.disabledBy);
    (ended === 'succeeded' ? ends.successesMs : ends.failuresMs).push(atMs);

    const lastSuccessMs = Math.max(Number.NEGATIVE_INFINITY, ...ends.successesMs);
    const least = ends.failuresMs.filter((ms) => ms > lastSuccessMs).length;
    const most = ends.failuresMs.filter((ms) => ms >= lastSuccessMs).length;
    const counted = present?.consecutiveFailures ?? Number.NaN;
    if (!(counted >= least && counted <= most))
      return `${counted} failures are counted where ${least} came one after the other`;
    if (ended === 'exhausted' && counted === FAILURES_BEFORE_WARNING)
      this.warned.set(id, (this.warned.get(id) ?? 0) + 1);
    const isDisabled = counted >= FAILURES_IN_A_ROW;
    if ((present?.status === 'auto_disabled') !== isDisabled)
      return `after ${counted} failures it is ${present?.status}`;
    if (isDisabled) {
      const inARow = ends.failuresMs.toSorted((a, b) => a - b).slice(-FAILURES_IN_A_ROW);
      ends.disabledBy = { firstMs: Math.min(...inARow), lastMs: Math.max(...inARow) };
      this.#disablings += 1;
    }
    return undefined;
  }
}

/** What is wrong with an end that is recorded after its endpoint was disabled. */
function faultOfLate(
  ended: 'succeeded' | 'exhausted',
  isChanged: boolean,
  atMs: number,
  { firstMs, lastMs }: NonNullable<Ends['disabledBy']>,
): string | undefined {
  if (isChanged) return 'an endpoint that is disabled was changed';
  const isAmong = ended === 'succeeded' && atMs > firstMs && atMs < lastMs;
  return isAmong ? 'it was disabled although a success came among its ten failures' : undefined;
}
