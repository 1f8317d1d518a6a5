import fc from 'fast-check';
import { expect, it } from 'vitest';
import { splitIntoChunks } from '../../../functions/aws/chunks.ts';

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
