/** How long a sandbox must have been idle before a function that already has one may take its place. */
const GROWTH_PATIENCE_MS = 10_000;

/** A function's sandboxes, as the capacity of the run sees them. */
export interface Pool {
  readonly size: number;
  /** When the sandbox that has been idle longest became so, if one is idle. */
  readonly idleSince: number | undefined;
  /**
   * Whether work waits while nothing of its kind is running: the first invocation of the function, or of
   * one of its lanes.
   */
  readonly isStarving: boolean;
  /** Ends the sandbox that has been idle longest, and releases its place. */
  evictIdle(): void;
  /** Called when a place may have become free for a pool that was refused one while it was starving. */
  resume(): void;
}

/**
 * Bounds the sandboxes of all functions together, and with them the memory of the run. A function that
 * starves, for it has no sandbox or has none left for one of its lanes, takes the place of whichever has been
 * idle longest, and comes first when places are short; one that only wants more of them waits for places that
 * have been idle for a while.
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

  /**
   * Whether a sandbox of this pool that has just become free gives way to another pool, which has starved for
   * longer. If it
   * is this one's turn instead, the sandbox is what it has waited for.
   */
  yields(pool: Pool): boolean {
    const [first] = this.#queue();
    if (first === pool) this.#starving.delete(pool);
    return first !== undefined && first !== pool;
  }

  /** Takes a place for one sandbox of the pool, or answers false. */
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

  /** Gives a place back. */
  release(): void {
    this.#used -= 1;
    const [next] = this.#queue();
    // Not at once: the pool that releases is still in the middle of its own change.
    if (next) queueMicrotask(() => next.resume());
  }

  /**
   * The pools that starve, in the order in which they were refused. One may have found a sandbox of its own
   * meanwhile.
   */
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
