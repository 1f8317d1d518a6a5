import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { estimateLatency } from '../../../lib/cost/latency.ts';
import { aWorkload, MEASURED } from './workloads.ts';

const ESTIMATE = estimateLatency(aWorkload(), MEASURED);

describe('the time from commit to receipt on AWS', () => {
  it('has the published percentiles of streams and queues', () => {
    const [stream, , queue] = ESTIMATE.stages;
    expect(stream).toMatchObject({ p50: expect.closeTo(213, -1), p99: expect.closeTo(552, -1) });
    expect(queue).toMatchObject({ p50: expect.closeTo(16.2, 0), p99: expect.closeTo(105, -1) });
  });

  it('is at least the sum of what always passes, and at most the sum of all slow cases', () => {
    const sum = (percentile: 'p50' | 'p99') =>
      ESTIMATE.stages.reduce((all, stage) => all + stage[percentile], 0);
    expect(ESTIMATE.warm.p50).toBeGreaterThan(sum('p50') * 0.9);
    expect(ESTIMATE.warm.p99).toBeLessThan(sum('p99'));
    expect(ESTIMATE.warm.p99).toBeGreaterThan(ESTIMATE.warm.p50);
  });

  it('is longer by a start of each function when both are cold', () => {
    const starts = ESTIMATE.stages.reduce((all, { coldMs }) => all + coldMs, 0);
    expect(starts).toBeGreaterThan(0);
    expect(ESTIMATE.cold.p50 - ESTIMATE.warm.p50).toBeCloseTo(starts, 6);
  });

  it('gets shorter and dearer with the memory of the dispatcher', () => {
    for (const [index, choice] of ESTIMATE.choices.entries()) {
      const before = ESTIMATE.choices[index - 1];
      if (before === undefined) continue;
      expect(choice.p50).toBeLessThan(before.p50);
      expect(choice.usd).toBeGreaterThan(before.usd);
    }
    const current = ESTIMATE.choices.find(({ memoryMiB }) => memoryMiB === MEASURED.template.memory.dispatch);
    expect(current).toMatchObject(ESTIMATE.warm);
  });

  it('grows with the processor time of the functions', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100 }), (cpuMs) => {
        const { dispatchBatch } = MEASURED;
        const slower = { ...dispatchBatch, cpuMs: dispatchBatch.cpuMs + cpuMs };
        const { warm } = estimateLatency(aWorkload(), { ...MEASURED, dispatchBatch: slower });
        // 256 MiB are less than a sixth of a processor.
        expect(warm.p50 - ESTIMATE.warm.p50).toBeGreaterThan(cpuMs * 6);
      }),
      { numRuns: 3 },
    );
  });
});
