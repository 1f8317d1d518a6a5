import { afterEach, expect, it, vi } from 'vitest';
import { METRICS, RATE_LIMITER_FAILURES } from '../../../functions/platform/metric-names.ts';
import { countOne } from '../../../functions/platform/metrics.ts';

afterEach(() => vi.restoreAllMocks());

it('counts under the names that the alarm watches, in one line of the embedded metric format', () => {
  const lines: string[] = [];
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    lines.push(String(text));
    return true;
  });
  countOne(RATE_LIMITER_FAILURES);
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    {
      _aws: {
        Timestamp: expect.any(Number),
        CloudWatchMetrics: [
          {
            Namespace: METRICS.namespace,
            Dimensions: [['service']],
            Metrics: [{ Name: RATE_LIMITER_FAILURES, Unit: 'Count' }],
          },
        ],
      },
      service: METRICS.serviceName,
      [RATE_LIMITER_FAILURES]: 1,
    },
  ]);
});
