import { describe, expect, it } from 'vitest';
import { MOST_AT_ONCE } from '../../../functions/domain/redelivery-pace.ts';
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

    expect(test.groups.slice(0, 5)).toEqual([1, 2, 4, 8, 1]);
    expect(test.groups[5]).toBe(MOST_AT_ONCE);
    expect(mostOf(waiting)).toBe(MOST_AT_ONCE);
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

  it('has one page waiting in each round at a receiver that does not answer', async () => {
    const test = aRedelivery({ pageRows: 25 });
    await many(test, 40);
    const waiting = test.attemptsTake(3600);
    const order = await test.started();
    const begun = test.clock.ms;

    await test.run();

    expect(mostOf(waiting)).toBe(40);
    expect(test.clock.ms - begun).toBeGreaterThanOrEqual((40 / MOST_AT_ONCE - 1) * ROUND_SECONDS * 1000);
    expect(await test.job(order)).toMatchObject({ status: 'done', redelivered: 40 });
  });

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

    expect(test.groups[before - 1]).toBe(MOST_AT_ONCE);
    expect(test.groups[before]).toBe(MOST_AT_ONCE / 2);
  });
});
