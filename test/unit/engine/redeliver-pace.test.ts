import { describe, expect, it } from 'vitest';
import { LARGEST_GROUP } from '../../../functions/domain/lanes.ts';
import { aRedelivery, type TestRedelivery } from './a-redelivery.ts';

const ROUND_SECONDS = 10;
const many = ({ had }: TestRedelivery, count: number) =>
  Promise.all(Array.from({ length: count }, (_, index) => had('exhausted', 3000 - index)));

/** The most deliveries that were waiting at a time. */
const mostOf = (sizes: readonly number[]) => Math.max(...sizes);

describe('redelivery job beside its dispatchers', () => {
  it('sends a group when the one before has been attempted, and larger ones while that is faster', async () => {
    const test = aRedelivery({ pageRows: 25 });
    await many(test, 60);
    const waiting = test.attemptsTake(0.2);
    const order = await test.started();

    await test.run();

    // The rest of a page is a group of its own.
    expect(test.groups).toEqual([1, 2, 4, 8, LARGEST_GROUP, 1, LARGEST_GROUP, 12]);
    expect(mostOf(waiting)).toBe(LARGEST_GROUP);
    expect(await test.job(order)).toMatchObject({ status: 'done', redelivered: 60 });
  });

  it('keeps few waiting where more make it no faster', async () => {
    const test = aRedelivery({ pageRows: 25 });
    await many(test, 60);
    const waiting = test.attemptsTake((count) => 0.1 * count);

    const order = await test.started();
    await test.run();

    expect(mostOf(waiting)).toBe(2);
    expect(await test.job(order)).toMatchObject({ status: 'done', redelivered: 60 });
  });

  it('never has more waiting than its stage allows, and resends all', async () => {
    const test = aRedelivery({ pageRows: 25, mostAtOnce: 3 });
    await many(test, 60);
    // Several rounds, which end within a page.
    const waiting = test.attemptsTake(0.9);
    const order = await test.started();

    expect(await test.run()).toBeGreaterThan(1);

    expect(mostOf(waiting)).toBe(3);
    expect(test.groups.slice(0, 3)).toEqual([1, 2, 3]);
    expect(await test.job(order)).toMatchObject({ status: 'done', redelivered: 60 });
  });

  it.each(['exhausted', 'missing'] as const)(
    'has as many waiting as it may in each round at a receiver that does not answer (%s)',
    async (kind) => {
      const test = aRedelivery({ pageRows: 25, pageEvents: 100, mostAtOnce: 3 });
      if (kind === 'exhausted') await many(test, 40);
      else await Promise.all(Array.from({ length: 40 }, (_, index) => test.happened(3000 - index)));
      const waiting = test.attemptsTake(ROUND_SECONDS + 1);
      const order = await test.started(kind === 'missing' ? { what: 'missing' } : {});
      const begun = test.clock.ms;

      await test.run();

      // A round does not know the deliveries of the one before, which wait a second longer.
      expect(mostOf(waiting)).toBeLessThanOrEqual(2 * 3);
      expect(test.clock.ms - begun).toBeGreaterThanOrEqual((40 / 3 - 1) * ROUND_SECONDS * 1000);
      expect(await test.job(order)).toMatchObject({ status: 'done', examined: 40, redelivered: 40 });
      expect(new Set(test.reminded.map(({ id }) => id)).size).toBe(40);
      expect(test.reminded).toHaveLength(40);
    },
  );

  it('continues in its next round with about the group of the last one', async () => {
    const test = aRedelivery({ pageRows: 25 });
    await many(test, 100);
    test.attemptsTake(0.2);
    await test.started();

    const [message] = test.messages.splice(0);
    if (message === undefined) throw new Error('there was to be a message');
    await test.worker(undefined, 40)(message);
    const before = test.groups.length;
    await test.run();

    expect(test.groups[before - 1]).toBe(LARGEST_GROUP);
    expect(test.groups[before]).toBe(LARGEST_GROUP / 2);
  });
});
