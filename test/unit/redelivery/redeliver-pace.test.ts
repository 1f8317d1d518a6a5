import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { computeRedeliveryGroup, LANE_TABLE, LARGEST_GROUP } from '../../../functions/delivery/lanes.ts';
import { casesOf } from '../../support/cases.ts';
import { aRedelivery, LEASE_SECONDS, type TestRedelivery } from '../delivery/a-redelivery.ts';

const many = ({ had }: TestRedelivery, count: number) =>
  Promise.all(Array.from({ length: count }, (_, index) => had('exhausted', 3000 - index)));

/** The most deliveries that were waiting at a time. */
const mostOf = (sizes: readonly number[]) => Math.max(0, ...sizes);

describe('redelivery job beside its dispatchers', () => {
  it('sends others when half of the window has been attempted, so that requests are few', async () => {
    const test = aRedelivery({ pageRows: 25 });
    await many(test, 60);
    const waiting = test.attemptsTake(0.2);
    const order = await test.started();

    await test.run();

    expect(test.groups).toEqual([LARGEST_GROUP, LARGEST_GROUP, LARGEST_GROUP, 12]);
    expect(mostOf(waiting)).toBe(LARGEST_GROUP);
    expect(await test.job(order)).toMatchObject({ status: 'done', redelivered: 60 });
  });

  it.each(['failed', 'missing'] as const)(
    'never has more waiting than its window, over all rounds and losses of workers (%s)',
    async (what) => {
      await fc.assert(
        fc.asyncProperty(
          fc.constantFrom(1, 3, 16),
          // Seconds of an attempt, one after another, and the attempts of others before them.
          fc.constantFrom(0.1, 1, 11),
          fc.integer({ min: 0, max: 30 }),
          fc.array(fc.integer({ min: 0, max: 60 }), { maxLength: 6 }),
          async (window, secondsEach, before, crashes) => {
            const test = aRedelivery({ pageRows: 25, pageEvents: 100, window });
            if (what === 'failed') await many(test, 40);
            else await Promise.all(Array.from({ length: 40 }, (_, index) => test.happened(3000 - index)));
            const waiting = test.attemptsAreInLine(secondsEach, before);
            const order = await test.started({ what });
            const left = [...crashes];
            let calls = 0;
            const dying = test.worker(async () => {
              if (left[0] === undefined || calls++ < left[0]) return;
              left.shift();
              calls = 0;
              throw new Error('the worker is lost');
            });

            await test.run(dying);

            expect(mostOf(waiting)).toBeLessThanOrEqual(window);
            expect(await test.job(order)).toMatchObject({ status: 'done', examined: 40, redelivered: 40 });
            expect(new Set(test.reminded.map(({ id }) => id)).size).toBe(40);
            // Only a lost worker's messages are repeated.
            if (crashes.length === 0) expect(test.reminded).toHaveLength(40);
          },
        ),
        { numRuns: casesOf(15, 100) },
      );
    },
  );

  it.each([1, 3, 16])(
    'makes at most its window of %i when it is stopped meanwhile, and counts all',
    async (most) => {
      for (let stopAt = 1; stopAt <= 40; stopAt += 3) {
        const test = aRedelivery({ pageRows: 25, window: most });
        await many(test, 40);
        test.attemptsAreInLine(0.1, 0);
        const order = await test.started();
        let made = 0;
        let madeBefore = 40;
        const stopped = test.worker(async (call, stage) => {
          if (call !== 'jobs.add' || stage !== 'answering') return;
          made += 1;
          if (made !== stopAt) return;
          madeBefore = made;
          await test.commit(test.jobs.stop(order, test.clock.now()));
        });

        await test.run(stopped);

        expect(made - madeBefore).toBeLessThanOrEqual(most);
        expect(await test.job(order)).toMatchObject({ status: 'stopped', redelivered: made });
      }
    },
  );

  it('counts what waits also beyond the page of a later round, when earlier deliveries have failed since', async () => {
    const test = aRedelivery({ pageRows: 1, window: 1 });
    await test.had('exhausted', 100);
    const waiting = test.attemptsTake(30);
    const order = await test.started();
    const [message] = test.messages;
    if (message === undefined) throw new Error('there was to be a message');
    await test.worker()(message);
    await Promise.all(Array.from({ length: 24 }, (_, index) => test.had('exhausted', 200 - index)));

    await test.run();

    expect(mostOf(waiting)).toBe(1);
    expect(await test.job(order)).toMatchObject({ status: 'done', redelivered: 25 });
  });

  it('resends the messages that a lost worker may not have sent, and no others', async () => {
    const test = aRedelivery({ pageRows: 25, window: 3 });
    await many(test, 3);
    test.attemptsTake(100);
    await test.started();
    const [message] = test.messages;
    if (message === undefined) throw new Error('there was to be a message');
    const lost = test.worker(async (call) => {
      if (call === 'queues.send') throw new Error('the worker is lost');
    });
    await expect(lost(message)).rejects.toThrow('is lost');
    expect(test.reminded).toHaveLength(0);
    test.clock.elapse(LEASE_SECONDS);
    await test.run();
    expect(test.reminded).toHaveLength(3);
  });
});

describe('window of a redelivery job', () => {
  it('is half the batches of the slow queue, at least one and at most 16', () => {
    const { dev, staging, prod } = LANE_TABLE.slow.dispatchers;

    expect([dev, staging, prod].map(computeRedeliveryGroup)).toEqual([5, 8, 16]);
    expect([1, 2, 5, 1000].map(computeRedeliveryGroup)).toEqual([1, 1, 2, LARGEST_GROUP]);
  });
});
