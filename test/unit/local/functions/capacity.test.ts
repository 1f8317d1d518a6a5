import { describe, expect, it } from 'vitest';
import { type Pool, SandboxCapacity } from '../../../../lib/local/functions/capacity.ts';

/** A function whose sandboxes are only counted. */
class FakePool implements Pool {
  size = 0;
  idleSince: number | undefined;
  resumed = 0;
  readonly #capacity: SandboxCapacity;

  constructor(capacity: SandboxCapacity) {
    this.#capacity = capacity;
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
    this.resumed += 1;
    this.grow();
  }
}

function capacityOf(limit: number) {
  const clock = { now: 0 };
  const capacity = new SandboxCapacity(limit, () => clock.now);
  return { capacity, clock, aPool: () => new FakePool(capacity) };
}

describe('the capacity of a run', () => {
  it('bounds the sandboxes of all functions together', () => {
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

  it('keeps places that become free for those without any, in their order', async () => {
    const { aPool, capacity } = capacityOf(2);
    const [busy, first, second] = [aPool(), aPool(), aPool()];
    busy.grow();
    busy.grow();
    expect([first.grow(), second.grow()]).toEqual([false, false]);
    expect(capacity.contended).toBe(true);

    busy.end();
    expect(busy.grow()).toBe(false);
    await Promise.resolve();
    expect([first.size, second.size]).toEqual([1, 0]);

    busy.end();
    await Promise.resolve();
    expect([first.size, second.size]).toEqual([1, 1]);
    expect(capacity.contended).toBe(false);
  });
});
