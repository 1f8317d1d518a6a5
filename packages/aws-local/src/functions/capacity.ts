/** Idle time after which a function with a sandbox may take another function's place. */
const GROWTH_PATIENCE_MS = 10_000;
/**
 * Idle time after which a sandbox ends: the last one of its function, which Lambda keeps for some minutes
 * too, and others, which remain of a burst of work.
 */
const KEPT_MS = { last: 600_000, others: 60_000 };

export interface Pool {
  readonly size: number;
  /** When the longest-idle sandbox became idle; undefined without one. */
  readonly idleSince: number | undefined;
  /** Whether work waits while the function, or one of its lanes, runs nothing. */
  readonly isStarving: boolean;
  /** Ends the longest-idle sandbox and releases its place. */
  evictIdle(): void;
  /** Called when a place may be free for a pool that was refused one while starving. */
  resume(): void;
}

/**
 * Limits the sandboxes of all functions, and with them the memory of the run. A starving function (no
 * sandbox, or none for one of its lanes) takes the longest-idle place at once and has priority; a function
 * that only wants more waits for places that have been idle for a while.
 */
export class SandboxCapacity {
  readonly #limit: number;
  readonly #now: () => number;
  readonly #pools = new Set<Pool>();
  readonly #starving = new Set<Pool>();
  #used = 0;

  constructor(limit: number, now: () => number = Date.now) {
    this.#limit = limit;
    this.#now = now;
  }

  /** Whether a sandbox of this pool that just became free yields to a pool that has starved longer. */
  yields(pool: Pool): boolean {
    const [first] = this.#queue();
    if (first === pool) this.#starving.delete(pool);
    return first !== undefined && first !== pool;
  }

  /** @returns false when there is no place for another sandbox of the pool */
  acquire(pool: Pool): boolean {
    this.#pools.add(pool);
    if (!this.#hasPlaceFor(pool)) this.#evictFor(pool);
    if (!this.#hasPlaceFor(pool)) {
      if (pool.isStarving) this.#starving.add(pool);
      return false;
    }
    this.#used += 1;
    this.#starving.delete(pool);
    return true;
  }

  /** Ends sandboxes that have been idle for too long. Called from time to time. */
  endIdle(): void {
    for (const pool of this.#pools)
      while (pool.idleSince !== undefined && this.#now() - pool.idleSince >= keptMs(pool)) pool.evictIdle();
  }

  release(): void {
    this.#used -= 1;
    const [next] = this.#queue();
    // Deferred: the releasing pool is still changing its own state.
    if (next) queueMicrotask(() => next.resume());
  }

  /** Starving pools in the order of their refusals. A pool may have found a sandbox of its own meanwhile. */
  #queue(): Pool[] {
    for (const pool of this.#starving) if (!pool.isStarving) this.#starving.delete(pool);
    return [...this.#starving];
  }

  #hasPlaceFor(pool: Pool): boolean {
    const queue = this.#queue();
    const ahead = queue.includes(pool) ? queue.indexOf(pool) : queue.length;
    return this.#used + ahead < this.#limit;
  }

  #evictFor(pool: Pool): void {
    const patience = pool.isStarving ? 0 : GROWTH_PATIENCE_MS;
    const idle = [...this.#pools]
      .filter((other) => other !== pool && other.idleSince !== undefined)
      .sort((a, b) => (a.idleSince ?? 0) - (b.idleSince ?? 0));
    const [longest] = idle;
    if (longest?.idleSince !== undefined && this.#now() - longest.idleSince >= patience) longest.evictIdle();
  }
}

const keptMs = ({ size }: Pool): number => (size > 1 ? KEPT_MS.others : KEPT_MS.last);
