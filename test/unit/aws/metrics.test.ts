import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import * as names from '../../../functions/aws/metrics.ts';
import {
  count,
  gauge,
  METRICS,
  publishMetrics,
  publishRegularly,
  RATE_LIMITER_FAILURES,
  sample,
} from '../../../functions/aws/metrics.ts';
import { printedMetrics } from './capturing-logger.ts';

const printed = printedMetrics();

const lines = () => printed.map((line) => JSON.parse(line));

/** A line of the embedded metric format (Amazon CloudWatch, Specification: Embedded metric format). */
const document = (metrics: Record<string, [unit: string, value: number | number[]]>) => ({
  _aws: {
    Timestamp: expect.any(Number),
    CloudWatchMetrics: [
      {
        Namespace: METRICS.namespace,
        Dimensions: [['service']],
        Metrics: Object.entries(metrics).map(([Name, [Unit]]) => ({ Name, Unit })),
      },
    ],
  },
  service: METRICS.serviceName,
  ...Object.fromEntries(Object.entries(metrics).map(([name, [, value]]) => [name, value])),
});

describe('the metrics of an invocation', () => {
  it('are one line of the embedded metric format, with sums, extremes and the values of percentiles', async () => {
    count(RATE_LIMITER_FAILURES);
    count('Things', 3);
    sample('Latency', 12);
    gauge('Age', 7, 'Seconds');
    count('Things');
    gauge('Age', 5, 'Seconds');
    sample('Latency', 8);
    expect(printed).toEqual([]);

    publishMetrics();

    expect(lines()).toEqual([
      document({
        [RATE_LIMITER_FAILURES]: ['Count', 1],
        Things: ['Count', 4],
        Latency: ['Milliseconds', [12, 8]],
        Age: ['Seconds', 7],
      }),
    ]);
  });

  it('are empty when nothing was recorded', async () => {
    count('Things', 0);
    gauge('Age', 0);
    gauge('Age', -3);
    gauge('Age', Number.NaN);
    publishMetrics();
    expect(printed).toEqual([]);
  });

  it('keep every value, however many there are', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(), { minLength: 1, maxLength: 350 }), async (values) => {
        printed.length = 0;
        for (const value of values) sample('Latency', value);
        publishMetrics();
        expect(lines().flatMap(({ Latency }) => Latency)).toEqual(values);
        // CloudWatch accepts a hundred values of a metric in a line.
        for (const { Latency } of lines()) expect([Latency].flat().length).toBeLessThanOrEqual(100);
      }),
      { numRuns: 30 },
    );
  });
});

describe('routine metrics', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date'] });
    count('Others');
    publishMetrics();
    printed.length = 0;
  });
  afterEach(() => vi.useRealTimers());
  const later = (milliseconds: number) => vi.setSystemTime(Date.now() + milliseconds);
  const routine = (milliseconds: number) =>
    publishRegularly(() => {
      count('Things');
      sample('Latency', milliseconds);
    });

  it('are written with those of later invocations, every ten seconds, without loss', async () => {
    for (const milliseconds of [12, 8, 9]) {
      routine(milliseconds);
      publishMetrics();
      later(3_000);
    }
    expect(printed).toEqual([]);

    later(1_000);
    routine(10);
    publishMetrics();
    routine(11);
    publishMetrics();

    expect(lines()).toEqual([document({ Things: ['Count', 4], Latency: ['Milliseconds', [12, 8, 9, 10]] })]);
  });

  it('are written at once when nothing was written for ten seconds', async () => {
    later(10_000);
    routine(12);
    publishMetrics();

    expect(lines()).toEqual([document({ Things: ['Count', 1], Latency: ['Milliseconds', 12] })]);
  });

  it('are written with urgent ones, recorded before or after them', async () => {
    routine(12);
    publishMetrics();
    count('Failures');
    routine(8);
    publishMetrics();

    expect(lines()).toEqual([
      document({ Things: ['Count', 2], Latency: ['Milliseconds', [12, 8]], Failures: ['Count', 1] }),
    ]);
  });
});

it('each metric has a unique name', () => {
  const { METRICS: _, ...groups } = names;
  const all = Object.values(groups).flatMap((group) =>
    typeof group === 'string' ? [group] : Object.values(group),
  );
  expect(all.length).toBeGreaterThan(20);
  expect(new Set(all).size).toBe(all.length);
});
