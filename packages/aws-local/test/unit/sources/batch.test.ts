import { describe, expect, it } from 'vitest';
import {
  type BatchPolicy,
  firstFailure,
  judge,
  partByAge,
  type Verdict,
} from '../../../src/sources/batch.ts';
import { aStreamRecord, numbersOf, records } from './stream-records.ts';

const policy: BatchPolicy = {
  maximumRetryAttempts: -1,
  maximumRecordAgeSeconds: -1,
  bisectOnError: false,
  reportsItemFailures: true,
};
const error = { payload: { errorType: 'Error' }, functionError: 'Unhandled' } as const;
const failing = (...items: unknown[]) => ({
  payload: { batchItemFailures: items.map((itemIdentifier) => ({ itemIdentifier })) },
});

/** The verdict with sequence numbers in place of records. */
function summary(verdict: Verdict): unknown {
  if (verdict.kind !== 'again') return verdict.kind;
  return verdict.batches.map(({ records: left, failures }) => [numbersOf(left), failures]);
}

describe('the first record to repeat', () => {
  it.each([
    ['nothing when all succeeded', failing(), undefined],
    ['the lowest that failed', failing('3', '2'), 1],
    ['all after an error of the function', error, 0],
    ['all when an identifier is empty', failing('2', ''), 0],
    ['all when an identifier is not of the batch', failing('99'), 0],
    ['all when an entry has no identifier', { payload: { batchItemFailures: [{}] } }, 0],
    ['nothing for an answer of another shape', { payload: 'fine' }, undefined],
    ['nothing for an answer without a list', { payload: { batchItemFailures: null } }, undefined],
  ])('is %s', (_, result, expected) => {
    expect(firstFailure(records(1, 2, 3), result, true)).toBe(expected);
  });

  it('is not read from the answer where the mapping does not say so', () => {
    expect(firstFailure(records(1), failing('1'), false)).toBeUndefined();
  });
});

describe('a batch that failed', () => {
  it('continues from the lowest failure, which has failed once', () => {
    const verdict = judge({ records: records(1, 2, 3), failures: 4 }, failing('2'), policy);
    expect(summary(verdict)).toEqual([[[2, 3], 1]]);
  });

  it('is repeated completely, and counted, without progress', () => {
    expect(summary(judge({ records: records(1, 2), failures: 4 }, error, policy))).toEqual([[[1, 2], 5]]);
  });

  it('is given up after the last retry', () => {
    const twice = { ...policy, maximumRetryAttempts: 2 };
    expect(summary(judge({ records: records(1), failures: 1 }, error, twice))).toEqual([[[1], 2]]);
    expect(judge({ records: records(1), failures: 2 }, error, twice)).toEqual({
      kind: 'discard',
      condition: 'RetryAttemptsExhausted',
    });
  });

  it('is halved where the mapping says so, which is not a retry, down to one record', () => {
    const bisecting = { ...policy, bisectOnError: true, maximumRetryAttempts: 0 };
    expect(summary(judge({ records: records(1, 2, 3), failures: 0 }, error, bisecting))).toEqual([
      [[1, 2], 0],
      [[3], 0],
    ]);
    expect(judge({ records: records(1), failures: 0 }, error, bisecting).kind).toBe('discard');
  });
});

describe('records that are too old', () => {
  it('are separated from the others', () => {
    const now = 1_800_000_100_000;
    const given = [aStreamRecord(1, 'a', 1_800_000_000), aStreamRecord(2, 'a', 1_800_000_050)];
    const parted = partByAge(given, { ...policy, maximumRecordAgeSeconds: 60 }, now);
    expect(numbersOf(parted.expired)).toEqual([1]);
    expect(numbersOf(parted.current)).toEqual([2]);
    expect(partByAge(given, policy, now).expired).toEqual([]);
  });
});
