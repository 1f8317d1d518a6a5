import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  collectFailures,
  mapConcurrently,
  mapSettled,
  splitIntoChunks,
} from '../../../functions/aws/concurrency.ts';

describe('mapConcurrently', () => {
  it('processes each item once within the limit, and returns the results in their order', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer()),
        fc.integer({ min: 1, max: 5 }),
        fc.scheduler(),
        async (items, limit, scheduler) => {
          let running = 0;
          let most = 0;
          const seen: number[] = [];
          const results = mapConcurrently(items, limit, async (item) => {
            seen.push(item);
            running += 1;
            most = Math.max(most, running);
            const result = await scheduler.schedule(Promise.resolve(item + 1));
            running -= 1;
            return result;
          });

          expect(await scheduler.waitFor(results)).toEqual(items.map((item) => item + 1));
          expect(seen).toEqual(items);
          expect(most).toBe(Math.min(limit, items.length));
        },
      ),
    );
  });

  it('fails when one item fails', async () => {
    const work = async (item: number) => {
      if (item === 2) throw new Error('two');
      return item;
    };

    await expect(mapConcurrently([1, 2, 3], 2, work)).rejects.toThrow('two');
  });
});

describe('mapSettled', () => {
  it('processes the items after a failed one, and returns its error in their order', async () => {
    const items = [1, 2, 3, 4];
    const done: number[] = [];

    const results = await mapSettled(items, 1, async (item) => {
      if (item % 2 === 0) throw new Error(`${item}`);
      done.push(item);
      return item * 10;
    });

    expect(done).toEqual([1, 3]);
    expect(results).toMatchObject([
      { status: 'fulfilled', value: 10 },
      { status: 'rejected', reason: new Error('2') },
      { status: 'fulfilled', value: 30 },
      { status: 'rejected', reason: new Error('4') },
    ]);
    expect(collectFailures(items, results)).toEqual([
      { item: 2, error: new Error('2') },
      { item: 4, error: new Error('4') },
    ]);
  });
});

it('cuts items into the fewest chunks that keep both limits and the order', () => {
  fc.assert(
    fc.property(fc.array(fc.nat({ max: 120 })), (sizes) => {
      const chunks = splitIntoChunks(sizes, (size) => size, { entries: 10, bytes: 100 });
      const sum = (chunk: readonly number[] = []) => chunk.reduce((all, size) => all + size, 0);

      expect(chunks.flat()).toEqual(sizes);
      for (const [index, chunk] of chunks.entries()) {
        expect(chunk.length).toBeGreaterThan(0);
        expect(chunk.length).toBeLessThanOrEqual(10);
        expect(chunk.length === 1 || sum(chunk) <= 100).toBe(true);
        const [next = Number.POSITIVE_INFINITY] = chunks[index + 1] ?? [];
        expect(chunk.length === 10 || sum(chunk) + next > 100).toBe(true);
      }
    }),
  );
});
