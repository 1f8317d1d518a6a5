import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as dispatched from '../../../functions/delivery/dispatch.ts';
import { batchOf, distinct } from '../../../lib/cost/batches.ts';
import { ATTEMPTS_PER_ORGANIZATION } from '../../../lib/cost/limit-usage.ts';

const mappings = fc.record({
  source: fc.constantFrom('queue' as const, 'stream' as const),
  batchSize: fc.integer({ min: 1, max: 1000 }),
  windowSeconds: fc.integer({ min: 0, max: 300 }),
});
const rates = fc.double({ min: 0, max: 1e6, noNaN: true });

describe('the records of a batch', () => {
  it("are at least one and at most the mapping's limit", () => {
    fc.assert(
      fc.property(mappings, rates, (mapping, rate) => {
        const batch = batchOf(mapping, rate);
        expect(batch).toBeGreaterThanOrEqual(1);
        expect(batch).toBeLessThanOrEqual(mapping.batchSize);
      }),
    );
  });

  it('are no fewer when more arrive or the window is longer', () => {
    fc.assert(
      fc.property(mappings, rates, rates, fc.integer({ min: 0, max: 300 }), (mapping, rate, more, longer) => {
        const batch = batchOf(mapping, rate) * (1 - 1e-9);
        expect(batchOf(mapping, rate + more)).toBeGreaterThanOrEqual(batch);
        const { windowSeconds } = mapping;
        expect(batchOf({ ...mapping, windowSeconds: windowSeconds + longer }, rate)).toBeGreaterThanOrEqual(
          batch,
        );
      }),
    );
  });

  it('are one when nearly nothing arrives, and a full batch when very much does', () => {
    const queue = { source: 'queue' as const, batchSize: 10, windowSeconds: 0 };

    expect(batchOf(queue, 0)).toBe(1);
    expect(batchOf(queue, 0.01)).toBeCloseTo(1, 3);
    expect(batchOf(queue, 100_000)).toBe(10);
  });
});

describe('the attempts of one organization in a batch', () => {
  it('are as many as the dispatcher makes at a time', () => {
    expect(ATTEMPTS_PER_ORGANIZATION).toBe(dispatched.ATTEMPTS_PER_ORGANIZATION);
  });
});

describe('the distinct items among the records of a batch', () => {
  it('are at most as many as the items, and as the records', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1e6 }),
        fc.integer({ min: 1, max: 1000 }),
        (endpoints, records) => {
          const result = distinct(endpoints, records);
          expect(result).toBeGreaterThanOrEqual(1 - 1e-9);
          expect(result).toBeLessThanOrEqual(Math.min(endpoints, records) * (1 + 1e-9));
        },
      ),
    );
  });

  it('are about all records when items are many, and all items when records are', () => {
    expect(distinct(1e6, 10)).toBeCloseTo(10, 3);
    expect(distinct(2, 1000)).toBeCloseTo(2, 9);
    expect(distinct(1, 1000)).toBe(1);
  });
});
