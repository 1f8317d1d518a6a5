import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  isOver,
  isTooLarge,
  judgedInWindow,
  shownSpan,
  windowSteps,
} from '../../../src/sources/tumbling-window.ts';
import { aStreamRecord, numbersOf } from './stream-records.ts';

const at = (number: number, seconds: number) => aStreamRecord(number, 'a', seconds);
const shown = (steps: ReturnType<typeof windowSteps>) =>
  steps.map((step) =>
    step.kind === 'close' ? 'close' : [step.span.start, step.span.end, numbersOf(step.records)],
  );

describe('the records of a tumbling window', () => {
  it('belong to the window of their time, counted from the epoch', () => {
    const steps = windowSteps(undefined, [at(1, 119), at(2, 120), at(3, 179), at(4, 180)], 60);
    expect(shown(steps)).toEqual([[60, 120, [1]], 'close', [120, 180, [2, 3]], 'close', [180, 240, [4]]]);
  });

  it('come once each and in order, in windows that only advance and are closed before the next', () => {
    const times = fc.array(fc.integer({ min: 0, max: 500 }), { maxLength: 40 });
    fc.assert(
      fc.property(times, fc.integer({ min: 1, max: 90 }), fc.nat(40), (seconds, length, cut) => {
        const records = seconds.map((second, number) => at(number, second));
        const first = windowSteps(undefined, records.slice(0, cut), length);
        const last = first.at(-1);
        // The windows do not depend on how reads cut the records.
        const rest = windowSteps(last?.kind === 'take' ? last.span : undefined, records.slice(cut), length);
        const steps = [...first, ...rest];
        expect(steps.flatMap((step) => (step.kind === 'take' ? numbersOf(step.records) : []))).toEqual(
          records.map((_, number) => number),
        );
        const ends: number[] = [];
        steps.forEach((step, index) => {
          const before = steps[index - 1];
          if (step.kind === 'close') expect(before?.kind).toBe('take');
          else {
            expect([step.span.start % length, step.span.end - step.span.start]).toEqual([0, length]);
            if (before?.kind !== 'take') expect(step.span.start).toBeGreaterThanOrEqual(ends.at(-1) ?? 0);
            ends.push(step.span.end);
          }
        });
        expect(ends).toEqual(ends.toSorted((a, b) => a - b));
      }),
    );
  });
});

describe('a window', () => {
  const span = { start: 1_596_128_400, end: 1_596_128_700 };

  it('is shown in whole seconds', () => {
    expect(shownSpan(span)).toEqual({ start: '2020-07-30T17:00:00Z', end: '2020-07-30T17:05:00Z' });
  });

  it('ends shortly after its end time', () => {
    expect(isOver(span, span.end * 1000)).toBe(false);
    expect(isOver(span, span.end * 1000 + 1_000)).toBe(true);
  });
});

describe('an answer in a window', () => {
  it.each([
    ['with a state succeeds', { state: { a: 1 } }, undefined],
    ['with an empty state succeeds', { state: {} }, undefined],
    ['without a state fails', { batchItemFailures: [] }, 'Unhandled'],
    ['of nothing fails', null, 'Unhandled'],
    ['of text fails', 'state', 'Unhandled'],
  ])('%s', (_, payload, functionError) => {
    expect(judgedInWindow({ payload }).functionError).toBe(functionError);
  });

  it('remains an error', () => {
    const failed = { payload: { errorType: 'Error', state: {} }, functionError: 'Unhandled' } as const;
    expect(judgedInWindow(failed)).toBe(failed);
  });

  it('may pass on a megabyte', () => {
    expect(isTooLarge('x'.repeat(1_048_574))).toBe(false);
    expect(isTooLarge('x'.repeat(1_048_575))).toBe(true);
  });
});
