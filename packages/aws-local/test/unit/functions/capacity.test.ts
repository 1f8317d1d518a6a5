import { describe, expect, it } from 'vitest';
import { type Pool, SandboxCapacity } from '../../../src/functions/capacity.ts';

/** A function whose sandboxes are only counted. */
class FakePool implements Pool {
  size = 0;
  idleSince: number | undefined;
  /** Whether a lane of the function has no sandbox. */
  isLaneStarving = false;
  readonly #capacity: SandboxCapacity;

  constructor(capacity: SandboxCapacity) {
    this.#capacity = capacity;
  }

  get isStarving(): boolean {
    return this.size === 0 || this.isLaneStarving;
  }

  grow(): boolean {
    const grown = this.#capacity.acquire(this);
    if (grown) this.size += 1;
    return grown;
  }

  end(): void {
    this.size -= 1;
    this.#capacity.release();
  }

  evictIdle(): void {
    this.idleSince = undefined;
    this.end();
  }

  resume(): void {
    this.grow();
  }
}

function capacityOf(limit: number) {
  const clock = { now: 0 };
  const capacity = new SandboxCapacity(limit, () => clock.now);
  return { capacity, clock, aPool: () => new FakePool(capacity) };
}

describe('the capacity of a run', () => {
  it('limits the sandboxes of all functions together', () => {
    const { aPool } = capacityOf(2);
    const [a, b] = [aPool(), aPool()];
    expect([a.grow(), b.grow(), a.grow()]).toEqual([true, true, false]);
  });

  it('gives a first sandbox the place of the one that has been idle longest', () => {
    const { aPool, clock } = capacityOf(2);
    clock.now = 3;
    const [old, recent, wanting] = [aPool(), aPool(), aPool()];
    old.grow();
    recent.grow();
    old.idleSince = 1;
    recent.idleSince = 2;
    expect(wanting.grow()).toBe(true);
    expect([old.size, recent.size, wanting.size]).toEqual([0, 1, 1]);
  });

  it('gives a further sandbox only a place that was idle for a while', () => {
    const { aPool, clock } = capacityOf(2);
    const [a, b] = [aPool(), aPool()];
    a.grow();
    b.grow();
    b.idleSince = 0;
    clock.now = 9_999;
    expect(a.grow()).toBe(false);
    clock.now = 10_000;
    expect(a.grow()).toBe(true);
    expect([a.size, b.size]).toEqual([2, 0]);
  });

  it('keeps free places for functions without any sandbox, in order', async () => {
    const { aPool, capacity } = capacityOf(2);
    const [busy, first, second] = [aPool(), aPool(), aPool()];
    busy.grow();
    busy.grow();
    expect([first.grow(), second.grow()]).toEqual([false, false]);
    expect(capacity.yields(busy)).toBe(true);

    busy.end();
    expect(busy.grow()).toBe(false);
    await Promise.resolve();
    expect([first.size, second.size]).toEqual([1, 0]);

    busy.end();
    await Promise.resolve();
    expect([first.size, second.size]).toEqual([1, 1]);
    expect(capacity.yields(busy)).toBe(false);
  });

  it('treats a lane without a sandbox like a function without one', () => {
    const { aPool, clock } = capacityOf(2);
    const [hogged, other] = [aPool(), aPool()];
    hogged.grow();
    other.grow();
    other.idleSince = clock.now;
    expect(hogged.grow()).toBe(false);
    hogged.isLaneStarving = true;
    expect(hogged.grow()).toBe(true);
    expect([hogged.size, other.size]).toEqual([2, 0]);
  });

  it("passes a free sandbox's place to starving pools in turn", () => {
    const { aPool, capacity } = capacityOf(1);
    const [hogged, first] = [aPool(), aPool()];
    hogged.grow();
    hogged.isLaneStarving = true;
    expect([hogged.grow(), first.grow()]).toEqual([false, false]);
    // The pool was refused first, so it keeps its own sandbox once.
    expect([capacity.yields(hogged), capacity.yields(hogged)]).toEqual([false, true]);
  });

  it('ignores a pool that has found a sandbox of its own', () => {
    const { aPool, capacity } = capacityOf(2);
    const [hogged, other] = [aPool(), aPool()];
    hogged.grow();
    other.grow();
    hogged.isLaneStarving = true;
    expect(hogged.grow()).toBe(false);
    expect(capacity.yields(other)).toBe(true);
    hogged.isLaneStarving = false;
    expect(capacity.yields(other)).toBe(false);
  });

  it('ends idle sandboxes: after a minute, and the last one of a function after ten', () => {
    const { aPool, capacity, clock } = capacityOf(3);
    const [pool, busy] = [aPool(), aPool()];
    pool.grow();
    pool.grow();
    busy.grow();
    const sizeAt = (now: number) => {
      clock.now = now;
      capacity.endIdle();
      return pool.size;
    };
    pool.idleSince = 0;
    expect([sizeAt(59_999), sizeAt(60_000)]).toEqual([2, 1]);
    pool.idleSince = 1;
    expect([sizeAt(600_000), sizeAt(600_001)]).toEqual([1, 0]);
    expect(busy.size).toBe(1);
    // Their places are free.
    expect([busy.grow(), busy.grow(), busy.grow()]).toEqual([true, true, false]);
  });
});
