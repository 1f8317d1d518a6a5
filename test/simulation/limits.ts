import type { DeliveryId, ReceiverId } from '../../functions/aws/ids.ts';
import type { ClaimedDelivery, Delivery, DeliveryMessage } from '../../functions/delivery/delivery.ts';
import type { TurnOutcome } from '../../functions/delivery/turns.ts';
import { STALE_MS } from './endpoint-history.ts';
import type { Process } from './processes.ts';
import type { PromiseName } from './promises.ts';
import type { WorldContext } from './world-context.ts';

/** Clocks and stored times are compared as fractions of milliseconds. */
const ROUNDING_MS = 0.01;
/** How late an attempt may start (docs/specification.md, Limit of attempts). */
const LATE_MS = 2000;
/** How many times as late it may start after each time that it has missed. */
const LATER_BY = 4;
/** An endpoint whose limit changes has no start for so long. */
const PAUSE_MS = 2000;

/** An attempt's time, when it started, and the least time to the next that its process may have read. */
interface Start {
  at: number;
  startedMs: number;
  intervalMs: number;
}

/** Observations of the times given to attempts at endpoints with a limit of attempts per second. */
export class Limits {
  readonly #world: WorldContext;
  readonly #tell: (promise: PromiseName, detail: string) => void;
  /** The limits of each endpoint so far, and since when; infinite for none. */
  readonly #limits = new Map<ReceiverId, { most: number; sinceMs: number }[]>();
  readonly #starts = new Map<ReceiverId, Start[]>();
  /** The last time that each endpoint has given. */
  readonly #last = new Map<ReceiverId, number>();
  /** How many starts each endpoint has given since the calm phase began. */
  readonly #calmStarts = new Map<ReceiverId, number>();
  /** Times with which each process may start attempts, by delivery: one that is lost uses none. */
  readonly #unused = new Map<Process, Map<DeliveryId, Set<number>>>();
  /** Times that deliveries have kept since their last attempt. */
  readonly #kept = new Map<DeliveryId, number>();
  /** Whether clocks of processes have differed, which they do not in the calm phase. */
  #clocksDiffer = false;

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

  /** An endpoint gives times: without faults, each is its next free one. */
  given(process: Process, id: ReceiverId, times: readonly number[]): void {
    const limits = this.#limits.get(id) ?? [];
    const intervalMs = 1000 / Math.min(...limits.map(({ most }) => most));
    const pauseMs = limits.length > 1 ? PAUSE_MS : 0;
    for (const at of times) {
      const free = Math.max(process.now().getTime() + pauseMs, (this.#last.get(id) ?? 0) + intervalMs);
      if (this.#world.faults.isCalm && at > free + ROUNDING_MS)
        this.#tell('comes to rest', `${id} gave ${at}, and ${free} was free`);
      this.#last.set(id, at);
    }
  }

  /** A delivery is written. */
  written(before: Delivery | undefined, { id, attempts, turn }: Delivery): void {
    if (attempts !== before?.attempts) this.#kept.delete(id);
    else if (turn !== undefined && turn.at !== before.turn?.at)
      this.#kept.set(id, (this.#kept.get(id) ?? 0) + 1);
  }

  #unusedOf(process: Process, id: DeliveryId): Set<number> {
    const own = this.#unused.get(process) ?? new Map<DeliveryId, Set<number>>();
    this.#unused.set(process, own);
    const times = own.get(id) ?? new Set();
    own.set(id, times);
    return times;
  }

  /** @param asked when the process asked, by its clock: requests to tables may take their time */
  answered(process: Process, { id, webhookId }: DeliveryMessage, asked: Date, outcome: TurnOutcome): void {
    this.#world.statistics.count(`turns: ${outcome.kind}`);
    if (outcome.kind !== 'start') return;
    const lateMs = asked.getTime() - outcome.at;
    const missed = Math.max(0, (this.#kept.get(id) ?? 0) - 1);
    if (lateMs > LATE_MS * LATER_BY ** missed)
      this.#tell('within its limit', `${id} is to start ${lateMs} ms after its time, and missed ${missed}`);
    if (this.#world.isUntroubled) this.#calmStarts.set(webhookId, (this.#calmStarts.get(webhookId) ?? 0) + 1);
    this.#unusedOf(process, id).add(outcome.at);
  }

  /**
   * How long an endpoint's starts in the calm phase may have waited for differences of clocks: after a start
   * by the clock that is furthest ahead, the one furthest behind gives none until it shows that time.
   */
  longestClockWaitMs(id: ReceiverId): number {
    return (this.#calmStarts.get(id) ?? 0) * 2 * this.#world.faults.maxSkewMs;
  }

  /** An attempt reaches its receiver: at a time of its own, an interval from those of all others. */
  attemptStarts(process: Process, { id, attempts, webhookId }: ClaimedDelivery): void {
    const most = this.loosest(webhookId, process);
    if (!Number.isFinite(most)) return;
    const unused = this.#unusedOf(process, id);
    if (unused.size === 0) {
      this.#tell('within its limit', `attempt ${attempts} of ${id} started without a turn`);
      return;
    }
    const at = Math.max(...unused);
    unused.delete(at);
    const start = { at, startedMs: this.#world.clock.ms, intervalMs: 1000 / most };
    const starts = this.#starts.get(webhookId) ?? [];
    // The times before and after a change may be by different clocks, and far apart.
    const { maxSkewMs, beyondMargin } = this.#world.faults;
    this.#clocksDiffer ||= maxSkewMs > 0;
    const hasClocks = this.#clocksDiffer && (this.#limits.get(webhookId)?.length ?? 0) > 1;
    const near = starts.find((other) => {
      const [first, second] = other.at < start.at ? [other, start] : [start, other];
      const isNear = second.at - first.at < first.intervalMs - ROUNDING_MS;
      // Clocks further apart than the pause after a change hide it from one another.
      const isApart = beyondMargin || start.startedMs - other.startedMs > first.intervalMs;
      return isNear && !(hasClocks && isApart);
    });
    if (near !== undefined)
      this.#tell('within its limit', `${id} has a turn ${at - near.at} ms after another at ${webhookId}`);
    this.#starts.set(webhookId, [...starts, start]);
  }
}
