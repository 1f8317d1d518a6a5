import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { InvocationResult } from '../../../src/functions/sandbox.ts';
import { compileFilters } from '../../../src/sources/filter.ts';
import { type QueueSourceOptions, startQueueSource } from '../../../src/sources/queue.ts';
import { awaitAssertion } from '../../support/until.ts';

const nothing: InvocationResult = { payload: null };

/** A queue in memory with a source that reads it, until the end of the test. */
function aQueue(options: Partial<QueueSourceOptions> = {}) {
  const available: string[] = [];
  const deleted: string[] = [];
  const givenBack: string[] = [];
  const invoked: string[][] = [];
  /** Thrown by the next polls, instead of an answer. */
  const troubles: Error[] = [];
  const polls = { count: 0 };
  const { invoke = async () => nothing, ...others } = options;
  const start = () => {
    const source = startQueueSource({
      queueUrl: 'http://127.0.0.1:1/000000000000/Q',
      queueArn: 'arn:aws:sqs:us-east-1:000000000000:Q',
      batchSize: 10,
      batchingWindowSeconds: 0,
      concurrency: () => 2,
      reportsItemFailures: true,
      passes: compileFilters([]),
      queues: {
        longestPollSeconds: 1,
        async receive(_, { limit, waitSeconds }) {
          polls.count += 1;
          const trouble = troubles.shift();
          if (trouble) throw trouble;
          if (available.length === 0 && waitSeconds > 0) await sleep(10);
          return available.splice(0, limit).map((Body) => ({
            MessageId: Body,
            ReceiptHandle: Body,
            Body,
            ...(Body.startsWith('loop') && { Attributes: { AWSTraceHeader: 'Root=1-2;Lineage=fn:16' } }),
          }));
        },
        delete: async (_, handles) => void deleted.push(...handles),
        release: async (_, handles) => void givenBack.push(...handles),
        send: () => expect.fail('a source sends nothing'),
        sendAll: () => expect.fail('a source sends nothing'),
      },
      log: () => undefined,
      isLoop: () => false,
      discardLoop: async () => undefined,
      invoke: (event, lineage) => {
        invoked.push(event.Records.map(({ body }) => body));
        return invoke(event, lineage);
      },
      ...others,
    });
    onTestFinished(() => source.stop());
    return source;
  };
  return { available, deleted, givenBack, invoked, polls, start, troubles };
}

const numbered = (count: number) => Array.from({ length: count }, (_, index) => `m${index}`);

describe('a queue source', () => {
  it('withholds messages of a loop from the function, and deletes those that it could discard', async () => {
    const discarded: string[] = [];
    const queue = aQueue({
      isLoop: (lineage) => lineage.get('fn') === 16,
      discardLoop: async ({ body }) => {
        if (body === 'loop-that-stays') throw new Error('no dead-letter queue answers');
        discarded.push(body);
      },
    });
    queue.available.push('a', 'loop', 'loop-that-stays');
    queue.start();
    await awaitAssertion(() => expect(queue.deleted).toEqual(['loop', 'a']));
    expect(queue.invoked).toEqual([['a']]);
    expect(discarded).toEqual(['loop']);
  });

  it('leaves failed messages to their visibility timeout', async () => {
    const failedB = { payload: { batchItemFailures: [{ itemIdentifier: 'b' }] } };
    const queue = aQueue({ invoke: async () => failedB });
    queue.available.push('a', 'b', 'c');
    queue.start();
    await awaitAssertion(() => expect(queue.deleted).toEqual(['a', 'c']));
    expect(queue.givenBack).toEqual([]);
  });

  it('runs at most the permitted invocations, and receives nothing meanwhile', async () => {
    const finish: (() => void)[] = [];
    const queue = aQueue({
      batchSize: 1,
      invoke: () => new Promise((resolve) => finish.push(() => resolve(nothing))),
    });
    queue.available.push(...numbered(4));
    queue.start();
    await awaitAssertion(() => expect(finish).toHaveLength(2));
    expect(queue.available).toEqual(['m2', 'm3']);
    finish[0]?.();
    await awaitAssertion(() => expect(finish).toHaveLength(3));
    expect(queue.available).toEqual(['m3']);
    finish[1]?.();
    await awaitAssertion(() => expect(finish).toHaveLength(4));
    for (const one of finish) one();
  });

  it('gathers up to the batch size within the batching window', async () => {
    const queue = aQueue({ batchSize: 25, batchingWindowSeconds: 60 });
    queue.available.push(...numbered(20));
    queue.start();
    await awaitAssertion(() => expect(queue.available).toEqual([]));
    expect(queue.invoked).toEqual([]);
    queue.available.push(...numbered(5));
    await awaitAssertion(() => expect(queue.invoked.map((batch) => batch.length)).toEqual([25]));
    await awaitAssertion(() => expect(queue.deleted).toHaveLength(25));
  });

  it('continues after errors of the queue, and deletes filtered messages without an invocation', async () => {
    const lines: string[] = [];
    const passes = compileFilters(['{"body":{"wanted":[true]}}']);
    const queue = aQueue({ passes, log: (line) => lines.push(line) });
    queue.available.push('{"wanted":true}', '{"wanted":false}');
    queue.troubles.push(new Error('the queue is down'));
    queue.start();
    await awaitAssertion(() => expect(lines).toEqual(['receiving failed: Error: the queue is down']));
    await awaitAssertion(() => expect(queue.deleted).toHaveLength(2));
    expect(queue.invoked).toEqual([['{"wanted":true}']]);
  });

  it('releases the messages of its last poll when it stops', async () => {
    const queue = aQueue();
    const source = queue.start();
    await awaitAssertion(() => expect(queue.polls.count).toBeGreaterThan(0));
    const stopped = source.stop();
    queue.available.push('late');
    await stopped;
    expect([...queue.givenBack, ...queue.available]).toEqual(['late']);
    expect(queue.invoked).toEqual([]);
  });

  it('pauses while all its invocations are in progress, and blocks nothing else meanwhile', async () => {
    const { promise, resolve } = Promise.withResolvers<InvocationResult>();
    const queue = aQueue({ concurrency: () => 1, invoke: () => promise });
    queue.available.push('a');
    const source = queue.start();
    await awaitAssertion(() => expect(queue.invoked).toEqual([['a']]));

    const stopped = source.stop();
    // Does not come if waiting for the source keeps the event loop busy.
    await sleep(1);
    queue.available.push('b');
    resolve(nothing);
    await stopped;

    expect(queue.deleted).toEqual(['a']);
    expect(queue.invoked).toEqual([['a']]);
  });
});
