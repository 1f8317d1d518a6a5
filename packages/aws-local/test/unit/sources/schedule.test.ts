import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LocalRunError } from '../../../src/errors.ts';
import { ratePeriod, startSchedule } from '../../../src/sources/schedule.ts';

describe('a schedule expression', () => {
  it.each([
    ['rate(1 minute)', 60_000],
    ['rate(5 minutes)', 300_000],
    ['rate(1 hour)', 3_600_000],
    ['rate(7 days)', 604_800_000],
  ])('%s is %d ms', (expression, period) => {
    expect(ratePeriod(expression)).toBe(period);
  });

  it.each(['cron(0 12 * * ? *)', 'rate(0 minutes)', 'rate(5 seconds)', 'rate(-1 hour)', ''])(
    'refuses %s',
    (expression) => {
      expect(() => ratePeriod(expression)).toThrow(LocalRunError);
    },
  );
});

describe('a schedule', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it.each([
    ['a minute', 60_000],
    // Longer than a timer can wait.
    ['forty days', 40 * 86_400_000],
  ])('does not run before its time: %s', async (_, periodMs) => {
    const events: unknown[] = [];
    const schedule = startSchedule({
      periodMs,
      event: (now) => now.toISOString(),
      invoke: async (event) => {
        events.push(event);
        return { payload: null };
      },
      log: () => undefined,
    });
    await vi.advanceTimersByTimeAsync(59_999);
    expect(events).toHaveLength(0);
    await schedule.stop();
  });

  it('runs once a period until it is stopped, and reports failures', async () => {
    const lines: string[] = [];
    const schedule = startSchedule({
      periodMs: 1_000,
      event: () => ({}),
      invoke: async () => ({ payload: { errorType: 'Broken' }, functionError: 'Unhandled' }),
      log: (line) => lines.push(line),
    });
    await vi.advanceTimersByTimeAsync(3_000);
    await schedule.stop();
    await vi.advanceTimersByTimeAsync(3_000);
    expect(lines).toHaveLength(3);
    expect(lines[0]).toContain('Broken');
  });
});
