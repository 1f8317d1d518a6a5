import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { InvocationResult } from '../../../src/functions/sandbox.ts';
import { processRecords, type StreamBatchesOptions } from '../../../src/sources/stream-batches.ts';
import type { StreamRecord } from '../../../src/sources/stream-records.ts';
import { aStreamRecord, numbersOf, records } from './stream-records.ts';

const never = new AbortController().signal;
const failed: InvocationResult = { payload: { errorType: 'Error' }, functionError: 'Unhandled' };
const failing = (...items: unknown[]): InvocationResult => ({
  payload: { batchItemFailures: items.map((itemIdentifier) => ({ itemIdentifier })) },
});
const policy = {
  maximumRetryAttempts: 0,
  maximumRecordAgeSeconds: -1,
  bisectOnError: true,
  reportsItemFailures: false,
};

function run(
  given: readonly StreamRecord[],
  poison: ReadonlySet<number>,
  options: Partial<StreamBatchesOptions> = {},
) {
  const batches: number[][] = [];
  const discarded: number[][] = [];
  const done = processRecords(
    given,
    {
      batchSize: 100,
      lanes: 1,
      policy,
      invoke: async ({ Records }) => {
        const numbers = numbersOf(Records);
        batches.push(numbers);
        return numbers.some((number) => poison.has(number)) ? failed : { payload: null };
      },
      discard: async (batch) => void discarded.push(numbersOf(batch.records)),
      log: () => undefined,
      ...options,
    },
    never,
  );
  return { done, batches, discarded };
}

describe('the records of a stream', () => {
  it('go to the function in batches of the given size, in order', async () => {
    const { done, batches } = run(records(1, 2, 3, 4, 5), new Set(), { batchSize: 2 });
    expect(await done).toBe(true);
    expect(batches).toEqual([[1, 2], [3, 4], [5]]);
  });

  it('go in batches that Lambda accepts, however large they are', async () => {
    const large = records(1, 2, 3, 4, 5).map((record) => ({ ...record, text: 'x'.repeat(2_500_000) }));
    const { done, batches } = run(large, new Set());
    expect(await done).toBe(true);
    expect(batches).toEqual([[1, 2], [3, 4], [5]]);
  });

  it('lose only the poisoned ones to the failure destination', async () => {
    const numbers = fc.uniqueArray(fc.integer({ min: 1, max: 12 }), { maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(numbers, async (poison) => {
        const all = Array.from({ length: 12 }, (_, index) => index + 1);
        const { done, batches, discarded } = run(records(...all), new Set(poison), { batchSize: 12 });
        expect(await done).toBe(true);
        expect(discarded.flat()).toEqual(poison.toSorted((a, b) => a - b));
        const succeeded = batches.filter((batch) => !batch.some((number) => poison.includes(number))).flat();
        expect(succeeded).toEqual(all.filter((number) => !poison.includes(number)));
      }),
      { numRuns: 10 },
    );
  });

  it('keep the order of each item in parallel lanes', async () => {
    const given = Array.from({ length: 40 }, (_, index) => aStreamRecord(index, `item-${index % 5}`));
    const seen = new Map<string, number[]>();
    let lanes = 0;
    const { done } = run(given, new Set(), {
      lanes: 4,
      batchSize: 3,
      invoke: async ({ Records }) => {
        lanes += 1;
        await Promise.resolve();
        for (const record of Records) {
          const key = JSON.stringify(record.dynamodb.Keys);
          seen.set(key, [...(seen.get(key) ?? []), ...numbersOf([record])]);
        }
        return { payload: null };
      },
    });
    expect(await done).toBe(true);
    expect(lanes).toBeGreaterThan(40 / 3);
    for (const numbers of seen.values()) expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
    expect([...seen.values()].flat()).toHaveLength(40);
  });

  it('are given up without an invocation when they are too old', async () => {
    const { done, batches, discarded } = run(
      [aStreamRecord(1, 'a', 1_000), aStreamRecord(2, 'a', Date.now() / 1000)],
      new Set(),
      {
        policy: { ...policy, maximumRetryAttempts: -1, maximumRecordAgeSeconds: 60 },
      },
    );
    expect(await done).toBe(true);
    expect(batches).toEqual([[2]]);
    expect(discarded).toEqual([[1]]);
  });

  it('are kept until the failure destination accepts them', async () => {
    let refusals = 1;
    const taken: number[] = [];
    const { done } = run(records(7), new Set([7]), {
      discard: async (batch) => {
        refusals -= 1;
        if (refusals >= 0) throw new Error('the queue is down');
        taken.push(...numbersOf(batch.records));
      },
    });
    expect(await done).toBe(true);
    expect(taken).toEqual([7]);
  });

  it('are not completed when the run stops in the middle', async () => {
    const stopping = new AbortController();
    const options: StreamBatchesOptions = {
      batchSize: 1,
      lanes: 1,
      policy,
      invoke: async () => {
        stopping.abort();
        return { payload: null };
      },
      discard: async () => undefined,
      log: () => undefined,
    };
    expect(await processRecords(records(1, 2), options, stopping.signal)).toBe(false);
  });

  it.each<[string, InvocationResult, number[] | undefined, boolean?]>([
    ['nothing when all succeeded', failing(), undefined],
    ['the rest from the lowest that failed', failing('3', '2'), [2, 3]],
    ['all after an error of the function', failed, [1, 2, 3]],
    ['all when an identifier is empty', failing('2', ''), [1, 2, 3]],
    ['all when an identifier is not of the batch', failing('99'), [1, 2, 3]],
    ['all when an entry has no identifier', { payload: { batchItemFailures: [{}] } }, [1, 2, 3]],
    ['nothing for an answer of another shape', { payload: 'fine' }, undefined],
    ['nothing for an answer without a list', { payload: { batchItemFailures: null } }, undefined],
    ['nothing where the mapping reports no items', failing('1'), undefined, false],
  ])('are repeated: %s', async (_, result, repeated, reportsItemFailures = true) => {
    const answers = [result];
    const seen: number[][] = [];
    const { done } = run(records(1, 2, 3), new Set(), {
      policy: { ...policy, bisectOnError: false, maximumRetryAttempts: 1, reportsItemFailures },
      invoke: async ({ Records }) => {
        seen.push(numbersOf(Records));
        return answers.shift() ?? { payload: null };
      },
    });
    expect(await done).toBe(true);
    expect(seen.slice(1)).toEqual(repeated ? [repeated] : []);
  });

  it('are given up after the last retry, which progress makes the first again', async () => {
    const answers = [failing('1'), failing('2'), failing('2')];
    const seen: number[][] = [];
    const given: unknown[] = [];
    const { done } = run(records(1, 2), new Set(), {
      policy: { ...policy, bisectOnError: false, maximumRetryAttempts: 1, reportsItemFailures: true },
      invoke: async ({ Records }) => {
        seen.push(numbersOf(Records));
        return answers.shift() ?? { payload: null };
      },
      discard: async ({ records: lost, condition, invocations }) =>
        void given.push([numbersOf(lost), condition, invocations]),
    });
    expect(await done).toBe(true);
    expect(seen).toEqual([[1, 2], [1, 2], [2]]);
    expect(given).toEqual([[[2], 'RetryAttemptsExhausted', 2]]);
  });
});
