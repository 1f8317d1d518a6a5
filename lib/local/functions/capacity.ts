/** How long a sandbox must have been idle before a function that already has one may take its place. */
const GROWTH_PATIENCE_MS = 10_000;

/** A function's sandboxes, as the capacity of the run sees them. */
export interface Pool {
  readonly size: number;
  /** When the sandbox that has been idle longest became so, if one is idle. */
  readonly idleSince: number | undefined;
  /** Ends the sandbox that has been idle longest, and releases its place. */
  evictIdle(): void;
  /** Called when a place may have become free for a pool that was refused its first sandbox. */
  resume(): void;
}

/**
 * Bounds the sandboxes of all functions together, and with them the memory of the run. A function without a sandbox
 * takes the place of whichever has been idle longest, and comes first when places are short; one that only wants
 * more of them waits for places that nobody has used for a while.
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

  /** Whether some function waits for its first sandbox: then one that has just become idle gives way. */
  get contended(): boolean {
    return this.#starving.size > 0;
  }

  /** Takes a place for one sandbox of the pool, or answers false. */
  acquire(pool: Pool): boolean {
    this.#pools.add(pool);
    if (!this.#hasPlaceFor(pool)) this.#evictFor(pool);
    if (!this.#hasPlaceFor(pool)) {
      if (pool.size === 0) this.#starving.add(pool);
      return false;
    }
    this.#used += 1;
    this.#starving.delete(pool);
    return true;
  }

  /** Gives a place back. */
  release(): void {
    this.#used -= 1;
    const [next] = this.#starving;
    // Not at once: the pool that releases is still in the middle of its own change.
    if (next) queueMicrotask(() => next.resume());
  }

  #hasPlaceFor(pool: Pool): boolean {
    const queue = [...this.#starving];
    const ahead = queue.includes(pool) ? queue.indexOf(pool) : queue.length;
    return this.#used + ahead < this.#limit;
  }

  #evictFor(pool: Pool): void {
    const patience = pool.size === 0 ? 0 : GROWTH_PATIENCE_MS;
    const idle = [...this.#pools]
      .filter((other) => other !== pool && other.idleSince !== undefined)
      .sort((a, b) => (a.idleSince ?? 0) - (b.idleSince ?? 0));
    const [longest] = idle;
    if (longest?.idleSince !== undefined && this.#now() - longest.idleSince >= patience) longest.evictIdle();
  }
}
