import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { timedOutAfter } from '../../../functions/delivery/delivery.ts';
import { computeSettlement, decideDisposition } from '../../../functions/delivery/settle.ts';
import { computeDelaySeconds, DEFAULT_RETRY_POLICY } from '../../../functions/delivery/timing.ts';
import { later, NOW, seconds } from '../../builders.ts';
import { recentTimes } from '../aws/arbitraries.ts';

const FAILED = { startedAt: NOW, endedAt: later(NOW, seconds(2)), ...timedOutAfter(2000) };

/** The settlement of a failed attempt that is not the last. */
function retryAfter(number: number, route: Parameters<typeof computeSettlement>[3]) {
  const settlement = computeSettlement(number, FAILED, DEFAULT_RETRY_POLICY, route);
  if (settlement.kind !== 'retrying') throw new Error('another attempt was to come');
  return settlement;
}

describe('wait for the next attempt', () => {
  it('is in the queue for the first five retries, and parked for the two long ones', () => {
    const holds = Array.from(
      { length: 7 },
      (_, index) => retryAfter(index + 1, { from: 'retry', to: 'retry', crowded: false }).wait.hold,
    );
    expect(holds).toEqual(['hidden', 'hidden', 'hidden', 'hidden', 'hidden', 'parked', 'parked']);
  });
});

describe('disposition of a message whose delivery', () => {
  const at = later(NOW, seconds(30));
  const attempt = { number: 1, startedAt: NOW.toISOString(), durationMs: 0, ...timedOutAfter(0) };
  const retrying = { kind: 'retrying', attempt, at: NOW, nextRetryAt: at } as const;

  it.each([
    ['is absent', { kind: 'absent' }, { kind: 'delete' }],
    ['has ended', { kind: 'terminal' }, { kind: 'delete' }],
    ['succeeded', { kind: 'succeeded', attempt, at }, { kind: 'delete' }],
    ['is exhausted', { kind: 'exhausted', attempt, at, terminalReason: 'max_attempts' }, { kind: 'delete' }],
    ['is leased', { kind: 'leased', until: at }, { kind: 'keep', until: at }],
    ['is not due', { kind: 'not-due', at, parked: false }, { kind: 'keep', until: at }],
    ['is parked', { kind: 'not-due', at, parked: true }, { kind: 'delete' }],
    [
      'waits in its lane',
      { ...retrying, wait: { hold: 'hidden', lane: 'retry' } },
      { kind: 'keep', until: at },
    ],
    [
      'waits in another lane',
      { ...retrying, wait: { hold: 'delayed', lane: 'slow' } },
      { kind: 'move', lane: 'slow', until: at },
    ],
    ['waits in the due index', { ...retrying, wait: { hold: 'parked', lane: 'retry' } }, { kind: 'delete' }],
  ] as const)('%s matches the outcome', (_what, outcome, disposition) => {
    expect(decideDisposition(outcome)).toEqual(disposition);
  });
});

describe('delay of a sent message', () => {
  it('never ends early, nor a whole second late, up to the 15 minutes of SQS', () => {
    fc.assert(
      fc.property(recentTimes, fc.integer({ min: 0, max: 900_000 }), (now, milliseconds) => {
        const delay = computeDelaySeconds(later(now, milliseconds), now) * 1000;
        expect(delay).toBeGreaterThanOrEqual(milliseconds);
        expect(delay).toBeLessThan(milliseconds + 1000);
      }),
    );
  });

  it.each([
    [-1, 0],
    [0, 0],
    [1, 1],
    [1_001, 2],
    [900_000, 900],
    [900_001, 900],
  ])('for %i ms is %i s', (milliseconds, expected) => {
    expect(computeDelaySeconds(later(NOW, milliseconds), NOW)).toBe(expected);
  });
});
