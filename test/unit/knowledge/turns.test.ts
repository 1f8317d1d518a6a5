import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createTurns } from '../../../functions/knowledge/extractor.ts';

it('turns begin in order, never exceed the capacity, and start as soon as they fit', async () => {
  const room = 2;
  const sizes = fc.array(fc.integer({ min: 1, max: room }), { minLength: 1, maxLength: 10 });
  await fc.assert(
    fc.asyncProperty(sizes, fc.infiniteStream(fc.nat()), async (all, choices) => {
      const take = createTurns(room);
      const begun: number[] = [];
      const running = new Map<number, Disposable>();
      for (const [index, size] of all.entries())
        void take(size).then((turn) => {
          begun.push(index);
          running.set(index, turn);
        });
      for (let ended = 0; ended < all.length; ended += 1) {
        await setImmediate();
        const used = [...running.keys()].reduce((sum, index) => sum + (all[index] ?? 0), 0);
        expect(used).toBeLessThanOrEqual(room);
        const next = all[begun.length];
        if (next !== undefined) expect(used + next).toBeGreaterThan(room);
        const open = [...running.keys()];
        const [index = -1] = open.slice(Number(choices.next().value) % open.length);
        running.get(index)?.[Symbol.dispose]();
        running.delete(index);
      }
      expect(begun).toEqual(all.map((_, index) => index));
    }),
  );
});
