import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Answered } from '../../bench/neighbours/client.ts';
import { answersOf } from '../../bench/neighbours/honest-calls.ts';
import type { Turn } from '../../bench/neighbours/scenario.ts';
import { judge, pooled } from '../../bench/neighbours/turns.ts';

const aTurn = (times: readonly number[], changes: Partial<Turn> = {}): Turn => ({
  samples: { 'call to answer': times },
  calls: times.length,
  refused: 0,
  missing: 0,
  ...changes,
});
const hundred = (ms: number) => Array<number>(100).fill(ms);

describe('the verdict on a scenario', () => {
  it('passes a p99 at most 1.3 times as long beside the hostile organization', () => {
    const { ratio, faults } = judge({ without: [aTurn(hundred(100))], with: [aTurn(hundred(130))] });

    expect(ratio).toBe(1.3);
    expect(faults).toEqual([]);
  });

  it('fails a longer p99', () => {
    const { faults } = judge({ without: [aTurn(hundred(100))], with: [aTurn(hundred(131))] });

    expect(faults).toEqual(['p99 is 1.31 times as long, more than 1.3']);
  });

  it('combines the samples of all turns of a side', () => {
    const slow = aTurn(hundred(900));

    const { ratio } = judge({ without: [aTurn(hundred(100)), slow], with: [slow, aTurn(hundred(100))] });

    expect(ratio).toBe(1);
  });

  it('uses only the first metric', () => {
    const turn = (second: number) =>
      aTurn([], { samples: { 'commit to receipt': hundred(10), 'call to receipt': hundred(second) } });

    expect(judge({ without: [turn(10)], with: [turn(90)] })).toMatchObject({
      metric: 'commit to receipt',
      ratio: 1,
    });
  });

  it('fails when an honest call was refused or a delivery is missing beside the hostile organization', () => {
    const without = aTurn(hundred(10), { refused: 5, missing: 5 });

    const { faults } = judge({ without: [without], with: [aTurn(hundred(10), { refused: 1, missing: 2 })] });

    expect(faults).toEqual(['1 of 100 honest calls were refused', '2 did not come in time']);
  });

  it('fails when a side has no samples', () => {
    expect(judge({ without: [aTurn([])], with: [aTurn(hundred(10))] }).faults).toHaveLength(1);
    expect(judge({ without: [aTurn(hundred(10))], with: [aTurn([])] }).faults).toHaveLength(1);
  });
});

describe('pooled samples', () => {
  it('contain those of all turns, each once', () => {
    fc.assert(
      fc.property(fc.array(fc.array(fc.nat())), (turns) => {
        const samples = pooled(turns.map((times) => aTurn(times))).get('call to answer') ?? [];

        expect(samples).toEqual(turns.flat());
      }),
    );
  });
});

describe('answers to honest calls', () => {
  const answered = (status: number): Answered => ({ intendedAt: 1000, answeredAt: 1025, status });

  it('count 429, server errors and failed connections as refused, without a latency', () => {
    const answers = answersOf([200, 201, 429, 500, 503, 0].map(answered));

    expect(answers).toEqual({ 'call to answer': [25, 25], refused: 4 });
  });

  it('stop the benchmark when a call itself is invalid', () => {
    expect(() => answersOf([answered(404)])).toThrow('an honest call was answered 404');
  });
});
