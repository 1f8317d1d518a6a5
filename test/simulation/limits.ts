import type { ClaimedDelivery, DeliveryMessage } from '../../functions/domain/delivery.ts';
import type { DeliveryId, ReceiverId } from '../../functions/domain/ids.ts';
import type { Turn } from '../../functions/engine/endpoint-turns.ts';
import type { PromiseName } from './promises.ts';
import type { WorldContext } from './world-context.ts';

/** Clocks and stored times are compared as fractions of milliseconds. */
const ROUNDING_MS = 0.01;
/** A higher limit applies within an hour, and lines that were formed under the earlier one end within it. */
const CHANGED_SECONDS = 3600;
/** By then no batch is in progress that has read the endpoint before. */
const SEEN_SECONDS = 120;

/** Observations of the turns at endpoints with a limit of attempts per second. */
export class Limits {
  readonly #world: WorldContext;
  readonly #tell: (promise: PromiseName, detail: string) => void;
  /** The limits of each endpoint so far, and since when; infinite for none. */
  readonly #limits = new Map<ReceiverId, { most: number; sinceMs: number }[]>();
  readonly #starts = new Map<ReceiverId, number[]>();
  /** How many starts each endpoint has given since the calm phase began. */
  readonly #calmStarts = new Map<ReceiverId, number>();
  /** Turns that no attempt has used yet. */
  readonly #unused = new Map<DeliveryId, number>();

  constructor(world: WorldContext, tell: (promise: PromiseName, detail: string) => void) {
    this.#world = world;
    this.#tell = tell;
  }

  /** An endpoint was registered or changed. */
  changed(id: ReceiverId, most = Number.POSITIVE_INFINITY): void {
    const limits = this.#limits.get(id) ?? [];
    this.#limits.set(id, [...limits, { most, sinceMs: this.#world.clock.ms }]);
  }

  /** Whether an endpoint has or had a limit. */
  isLimited(id: ReceiverId): boolean {
    return this.#limits.get(id)?.some(({ most }) => Number.isFinite(most)) ?? false;
  }

  /** The loosest limit in the last seconds. */
  #loosest(id: ReceiverId, seconds: number): number {
    const limits = this.#limits.get(id) ?? [];
    const sinceMs = this.#world.clock.ms - seconds * 1000;
    return Math.max(
      ...limits
        .filter((_, index) => (limits[index + 1]?.sinceMs ?? sinceMs) >= sinceMs)
        .map(({ most }) => most),
    );
  }

  given({ id, webhookId }: DeliveryMessage, turn: Turn): void {
    this.#world.statistics.count(`turns: ${turn.kind}`);
    if (turn.kind !== 'start') return;
    if (this.#world.isUntroubled) this.#calmStarts.set(webhookId, (this.#calmStarts.get(webhookId) ?? 0) + 1);
    this.#unused.set(id, (this.#unused.get(id) ?? 0) + 1);
    const starts = this.#starts.get(webhookId) ?? [];
    const interval = 1000 / this.#loosest(webhookId, CHANGED_SECONDS);
    const near = starts.find((other) => Math.abs(other - turn.at) < interval - ROUNDING_MS);
    if (near !== undefined)
      this.#tell('within its limit', `${id} has a turn ${turn.at - near} ms after another at ${webhookId}`);
    this.#starts.set(webhookId, [...starts, turn.at]);
  }

  /**
   * How long an endpoint's starts in the calm phase may have waited for differences of clocks: after a start
   * by the clock that is furthest ahead, the one furthest behind gives none until it shows that time.
   */
  longestClockWaitMs(id: ReceiverId): number {
    return (this.#calmStarts.get(id) ?? 0) * 2 * this.#world.faults.maxSkewMs;
  }

  /** An attempt reaches its receiver. */
  attemptStarts({ id, attempts, webhookId }: ClaimedDelivery): void {
    if (!Number.isFinite(this.#loosest(webhookId, SEEN_SECONDS))) return;
    const left = (this.#unused.get(id) ?? 0) - 1;
    this.#unused.set(id, left);
    if (left < 0) this.#tell('within its limit', `attempt ${attempts} of ${id} started without a turn`);
  }
}
