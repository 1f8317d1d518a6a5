import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Pool, SandboxCapacity } from '../../../src/functions/capacity.ts';
import { encodeFrame, FrameDecoder, type ReplyHeader } from '../../../src/functions/frames.ts';
import {
  addInvocation,
  formatLineage,
  type Lineage,
  mergeLineages,
  parseLineage,
} from '../../../src/functions/lineage.ts';

describe('frames', () => {
  it('are decoded as encoded, however the bytes are cut', () => {
    const frame = fc.record({
      requestId: fc.string(),
      body: fc.string({ unit: 'grapheme', maxLength: 300 }),
    });
    fc.assert(
      fc.property(fc.array(frame, { maxLength: 8 }), fc.integer({ min: 1, max: 64 }), (frames, size) => {
        const bytes = Buffer.concat(
          frames.map(({ requestId, body }) => encodeFrame({ type: 'response', requestId }, body)),
        );
        const decoder = new FrameDecoder<ReplyHeader>();
        const decoded = [];
        for (let at = 0; at < bytes.length; at += size)
          decoded.push(...decoder.push(bytes.subarray(at, at + size)));
        expect(decoded).toEqual(
          frames.map(({ requestId, body }) => ({ header: { type: 'response', requestId }, body })),
        );
      }),
    );
  });

  it('may have no body', () => {
    const decoder = new FrameDecoder<ReplyHeader>();
    expect(decoder.push(encodeFrame({ type: 'ready' }))).toEqual([{ header: { type: 'ready' }, body: '' }]);
  });
});

const counts = (lineage: Lineage) => Object.fromEntries(lineage);

describe('the lineage of a chain of messages', () => {
  it.each([
    [undefined, {}],
    ['Root=1-5759e988-bd862e3fe1be46a994272793;Sampled=0', {}],
    ['Root=1-2;Parent=3;Sampled=0;Lineage=fn-a:2|fn-b:16', { 'fn-a': 2, 'fn-b': 16 }],
    // Written by Lambda itself, or without a count of a function here.
    ['Root=1-2;Lineage=;Sampled=0', {}],
    ['Root=1-2;Lineage=nonsense', {}],
  ])('is parsed from the trace header %s', (header, expected) => {
    expect(counts(parseLineage(header))).toEqual(expected);
  });

  it('counts an invocation, and is written as it is read', () => {
    const once = addInvocation(new Map([['b', 3]]), 'a');
    const twice = addInvocation(once, 'a');
    expect(counts(twice)).toEqual({ a: 2, b: 3 });
    expect(parseLineage(`Root=1-2;Sampled=0${formatLineage(twice)}`)).toEqual(twice);
    expect(formatLineage(new Map())).toBe('');
  });

  it('is the longest of each function where messages of several chains are in one batch', () => {
    const merged = mergeLineages([parseLineage('Lineage=a:1|b:5'), parseLineage('Lineage=a:4'), new Map()]);
    expect(counts(merged)).toEqual({ a: 4, b: 5 });
  });
});

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
