import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { casesOf } from '../../support/cases.ts';
import {
  aRedelivery,
  GRACE_SECONDS,
  LEASE_SECONDS,
  ROUND_SECONDS,
  SHORTEST_ROUND,
  type TestRedelivery,
} from '../delivery/a-redelivery.ts';
import { expectDone, lived, past } from './a-job-history.ts';

describe('redelivery job whose workers are lost', () => {
  it('creates and counts one delivery for each event, for a loss at any call', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(past, { maxLength: 40 }),
        fc.array(fc.integer({ min: 0, max: 60 }), { maxLength: 6 }),
        fc.constantFrom(SHORTEST_ROUND, 1, ROUND_SECONDS),
        fc.constantFrom(1, 3, 16),
        // Seconds of attempts: none, a part of a round, and longer than a round.
        fc.constantFrom(0, 1.5, 11),
        async (history, crashes, roundSeconds, window, attemptSeconds) => {
          const test = aRedelivery({ window, pageEvents: 100 });
          if (attemptSeconds > 0) test.attemptsTake(attemptSeconds);
          const expected = await lived(test, history);
          const order = await test.started();
          const left = [...crashes];
          let calls = 0;
          const dying = test.worker(async () => {
            test.clock.elapse(0.05);
            if (left[0] === undefined || calls++ < left[0]) return;
            left.shift();
            calls = 0;
            throw new Error('the worker is lost');
          }, roundSeconds);
          await test.run(dying);
          await expectDone(test, order, expected, history);
        },
      ),
      { numRuns: casesOf(60, 300) },
    );
  });

  it('makes no second delivery of an event that a user has resent alone in between', async () => {
    const test = aRedelivery();
    const failed = await test.had('exhausted', 100);
    const job = await test.started();
    const [message] = test.messages;
    if (message === undefined) throw new Error('there was to be a message');
    test.attemptsTake(60);
    let isSent = false;
    const dying = test.worker(async (call, stage) => {
      if (isSent) throw new Error('the worker is lost');
      isSent = call === 'queues.send' && stage === 'answering';
    });
    await expect(dying(message)).rejects.toThrow('the worker is lost');
    const [own] = await test.made(job);
    await test.exhausts(await test.redelivers(failed));
    test.clock.elapse(LEASE_SECONDS);

    await test.run();

    expect(await test.made(job)).toEqual([expect.objectContaining({ id: own?.id })]);
  });
});

describe('redelivery job whose messages are received several times at once', () => {
  it('is leased by one worker at a time, and has the same result', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.scheduler(),
        fc.array(past, { minLength: 5, maxLength: 25 }),
        fc.array(fc.integer({ min: 0, max: LEASE_SECONDS }), { minLength: 3, maxLength: 3 }),
        async (scheduler, history, pauses) => {
          const test = aRedelivery();
          const expected = await lived(test, history);
          const order = await test.started();
          const [message] = test.messages;
          if (message === undefined) throw new Error('there was to be a message');
          const processMessage = test.worker(
            (call, stage) => scheduler.schedule(Promise.resolve(), `${call} ${stage}`),
            SHORTEST_ROUND,
          );
          const running = pauses.map(async (pause) => {
            await scheduler.schedule(Promise.resolve());
            // The lease of another worker may have ended by now.
            test.clock.elapse(pause);
            return processMessage(message).catch(() => undefined);
          });
          await scheduler.waitFor(Promise.all(running));
          test.clock.elapse(LEASE_SECONDS);
          await test.run();
          await expectDone(test, order, expected, history);
        },
      ),
      { numRuns: casesOf(40, 200) },
    );
  });
});

/**
 * A step of a job's run. `dies` is the number of calls after which the process is lost; the call after them
 * may take effect without an answer.
 */
const happening = fc.oneof(
  fc.record({ kind: fc.constantFrom('worker', 'resumer'), dies: fc.integer({ min: 0, max: 40 }) }),
  fc.record({ kind: fc.constant('messages lost') }),
  fc.record({ kind: fc.constant('wait'), seconds: fc.integer({ min: 1, max: 1800 }) }),
);

/** Lets `calls` calls pass, which take their time, and none after them. */
const livingFor = (calls: number, { clock }: TestRedelivery) => {
  let left = calls;
  return async () => {
    clock.elapse(0.05);
    left -= 1;
    if (left < 0) throw new Error('the process is lost');
  };
};

describe('redelivery job whose messages are lost', () => {
  it('ends with the same result, for any loss of other processes', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(past, { maxLength: 25 }),
        fc.array(happening, { maxLength: 25 }),
        fc.constantFrom(SHORTEST_ROUND, 1, ROUND_SECONDS),
        async (history, happenings, roundSeconds) => {
          const test = aRedelivery();
          const expected = await lived(test, history);
          const order = await test.started();
          for (const one of happenings) {
            if (one.kind === 'messages lost') test.messages.length = 0;
            if ('seconds' in one) test.clock.elapse(one.seconds);
            if (!('dies' in one)) continue;
            if (one.kind === 'resumer')
              await test
                .resumer(livingFor(one.dies, test))(() => true)
                .catch(() => undefined);
            const message = one.kind === 'worker' ? test.messages.shift() : undefined;
            if (message === undefined) continue;
            const processMessage = test.worker(livingFor(one.dies, test), roundSeconds);
            await processMessage(message).catch(() => test.messages.push(message));
          }
          // From now on nothing is lost.
          test.messages.length = 0;
          test.clock.elapse(GRACE_SECONDS);
          await test.resumer()(() => true);
          await test.run(test.worker(undefined, roundSeconds));
          test.clock.elapse(GRACE_SECONDS);
          await test.resumer()(() => true);
          await test.run(test.worker(undefined, roundSeconds));
          await expectDone(test, order, expected, history);
        },
      ),
      { numRuns: casesOf(60, 300) },
    );
  });
});

describe('redelivery job with an extra message', () => {
  it('has the same result, for any order of the calls', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.scheduler(),
        fc.array(past, { minLength: 5, maxLength: 25 }),
        async (scheduler, history) => {
          const test = aRedelivery();
          const expected = await lived(test, history);
          const order = await test.started();
          // The job is as late as one that waits in its queue.
          test.clock.elapse(GRACE_SECONDS);
          const gate = (call: string, stage: string) =>
            scheduler.schedule(Promise.resolve(), `${call} ${stage}`);
          const processMessage = test.worker(gate, SHORTEST_ROUND);
          const next = async () => {
            await scheduler.schedule(Promise.resolve());
            const message = test.messages.shift();
            if (message !== undefined) await processMessage(message).catch(() => test.messages.push(message));
          };
          const working = Array.from({ length: 4 }, next);
          const looking = test.resumer(gate)(() => true);
          await scheduler.waitFor(Promise.all([...working, looking]));
          test.clock.elapse(LEASE_SECONDS);
          await test.run();
          await expectDone(test, order, expected, history);
          expect(test.messages).toEqual([]);
        },
      ),
      { numRuns: casesOf(40, 200) },
    );
  });
});
