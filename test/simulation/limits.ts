import type { DeliveryId, ReceiverId } from '../../functions/aws/ids.ts';
import type { ClaimedDelivery, DeliveryMessage } from '../../functions/delivery/delivery.ts';
import type { Turn } from '../../functions/delivery/endpoint-turns.ts';
import { STALE_MS } from './endpoint-history.ts';
import type { Process } from './processes.ts';
import type { PromiseName } from './promises.ts';
import type { WorldContext } from './world-context.ts';

/** Clocks and stored times are compared as fractions of milliseconds. */
const ROUNDING_MS = 0.01;
/** How much later than its limit allows a start may be without faults: messages are received in lumps. */
const CALM_LATENESS_MS = 12_000;

/** An attempt's turn, and the least time to the next one that its process may have read as the limit. */
interface Start {
  at: number;
  intervalMs: number;
}

/** Observations of the turns at endpoints with a limit of attempts per second. */
export class Limits {
  readonly #world: WorldContext;
  readonly #tell: (promise: PromiseName, detail: string) => void;
  /** The limits of each endpoint so far, and since when; infinite for none. */
  readonly #limits = new Map<ReceiverId, { most: number; sinceMs: number }[]>();
  readonly #starts = new Map<ReceiverId, Start[]>();
  /** How many starts each endpoint has given since the calm phase began. */
  readonly #calmStarts = new Map<ReceiverId, number>();
  /** Deliveries that wait for their turn, since when, and after how many starts of their endpoint. */
  readonly #waiting = new Map<DeliveryId, { sinceMs: number; starts: number }>();
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

  /** The loosest limit that a process may have read in its invocation. */
  loosest(id: ReceiverId, process: Process): number {
    const limits = this.#limits.get(id) ?? [];
    const sinceMs = process.invokedMs - STALE_MS;
    return Math.max(
      ...limits
        .filter((_, index) => (limits[index + 1]?.sinceMs ?? sinceMs) >= sinceMs)
        .map(({ most }) => most),
    );
  }

  given(process: Process, { id, webhookId }: DeliveryMessage, turn: Turn): void {
    this.#world.statistics.count(`turns: ${turn.kind}`);
    const starts = this.#starts.get(webhookId) ?? [];
    const waiting = this.#waiting.get(id) ?? { sinceMs: this.#world.clock.ms, starts: starts.length };
    if (turn.kind !== 'start') {
      this.#waiting.set(id, waiting);
      return;
    }
    this.#waiting.delete(id);
    if (this.#world.faults.isCalm)
      this.#checkPace(id, webhookId, turn.at - waiting.sinceMs, starts.length - waiting.starts);
    if (this.#world.isUntroubled) this.#calmStarts.set(webhookId, (this.#calmStarts.get(webhookId) ?? 0) + 1);
    this.#unused.set(id, (this.#unused.get(id) ?? 0) + 1);
    const start = { at: turn.at, intervalMs: 1000 / this.loosest(webhookId, process) };
    const near = starts.find((other) => {
      const [first, second] = other.at < start.at ? [other, start] : [start, other];
      return second.at - first.at < first.intervalMs - ROUNDING_MS;
    });
    if (near !== undefined)
      this.#tell(
        'within its limit',
        `${id} has a turn ${turn.at - near.at} ms after another at ${webhookId}`,
      );
    this.#starts.set(webhookId, [...starts, start]);
  }

  /** While deliveries wait, their endpoint gets about as many attempts as its limit allows. */
  #checkPace(id: DeliveryId, webhookId: ReceiverId, waitedMs: number, starts: number): void {
    const least = Math.min(...(this.#limits.get(webhookId) ?? []).map(({ most }) => most));
    const lateMs = waitedMs - ((starts + 1) * 1000) / least;
    if (lateMs > CALM_LATENESS_MS)
      this.#tell(
        'comes to rest',
        `${id} waited ${waitedMs} ms for its turn, in which ${starts} others started`,
      );
  }

  /**
   * How long an endpoint's starts in the calm phase may have waited for differences of clocks: after a start
   * by the clock that is furthest ahead, the one furthest behind gives none until it shows that time.
   */
  longestClockWaitMs(id: ReceiverId): number {
    return (this.#calmStarts.get(id) ?? 0) * 2 * this.#world.faults.maxSkewMs;
  }

  /** An attempt reaches its receiver. */
  attemptStarts(process: Process, { id, attempts, webhookId }: ClaimedDelivery): void {
    if (!Number.isFinite(this.loosest(webhookId, process))) return;
    const left = (this.#unused.get(id) ?? 0) - 1;
    this.#unused.set(id, left);
    if (left < 0) this.#tell('within its limit', `attempt ${attempts} of ${id} started without a turn`);
  }
}
