import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  AttemptRecord,
  type AttemptResult,
  computeSettlement,
  Delivery,
  type Settlement,
  type WebhookRequest,
} from '../../../functions/domain/delivery.ts';
import { MAX_SPEED } from '../../../functions/domain/simulation.ts';
import { DEFAULT_RETRY_POLICY, type RetryPolicy } from '../../../functions/domain/timing.ts';
import { aDelivery, later, NOW, seconds } from '../../builders.ts';
import { recentTimes } from './arbitraries.ts';

const ROUTE = { from: 'retry', to: 'retry', crowded: false } as const;
const request: WebhookRequest = { method: 'POST', url: 'https://example.com/', headers: {}, body: '{}' };

interface Outcome {
  fails: boolean;
  /** Duration of the receiver's answer, at real speed. */
  durationMs: number;
  /** Delay of the attempt in the sandbox, in milliseconds. */
  lateMs: number;
}
const outcomes: fc.Arbitrary<Outcome[]> = fc.array(
  fc.record({
    fails: fc.boolean(),
    durationMs: fc.integer({ min: 0, max: 10_000 }),
    lateMs: fc.integer({ min: 0, max: 5_000 }),
  }),
  { minLength: 1, maxLength: 10 },
);
const policies: fc.Arbitrary<RetryPolicy> = fc.oneof(
  fc.constant(DEFAULT_RETRY_POLICY),
  fc.record({
    baseSeconds: fc.double({ min: 0.001, max: 86_400, noNaN: true }),
    capSeconds: fc.double({ min: 0.001, max: 86_400, noNaN: true }),
    maxAttempts: fc.integer({ min: 1, max: 10 }),
  }),
);
const speeds = fc.integer({ min: 1, max: MAX_SPEED });

const buildResult = (startedAt: Date, took: number, { fails, durationMs }: Outcome): AttemptResult => ({
  startedAt,
  endedAt: later(startedAt, took),
  ...(fails
    ? { error: 'the receiver answered 503', errorCode: 'http_status', status: 503 }
    : { status: 200 }),
  simulated: { request, durationMs },
});

/** The settlements of a delivery's attempts, until it ends or `all` has no more outcomes. */
function history(
  all: readonly Outcome[],
  maxAttempts: number,
  settle: (number: number, outcome: Outcome, before: Settlement | undefined) => Settlement,
): Settlement[] {
  const settlements: Settlement[] = [];
  for (const outcome of all.slice(0, maxAttempts)) {
    const before = settlements.at(-1);
    if (before !== undefined && before.kind !== 'retrying') break;
    settlements.push(settle(settlements.length + 1, outcome, before));
  }
  return settlements;
}

/** The attempts of a delivery at real speed, each started when it is due. */
const atRealSpeed = (all: readonly Outcome[], policy: RetryPolicy, start: Date): Settlement[] =>
  history(all, policy.maxAttempts, (number, outcome, before) => {
    const startedAt = before?.kind === 'retrying' ? before.nextRetryAt : start;
    return computeSettlement(number, buildResult(startedAt, outcome.durationMs, outcome), policy, ROUTE);
  });

/** The same attempts at a higher speed, each started with the delay of its queue. */
const atHighSpeed = (
  all: readonly Outcome[],
  policy: RetryPolicy,
  start: Date,
  speed: number,
): Settlement[] =>
  history(all, policy.maxAttempts, (number, outcome, before) => {
    const startedAt = before?.kind === 'retrying' ? later(before.nextRetryAt, outcome.lateMs) : start;
    const real = before?.atRealSpeed?.nextRetryAt;
    const pace = { speed, startedAt: real === undefined ? startedAt : new Date(real) };
    const result = buildResult(startedAt, Math.ceil(outcome.durationMs / speed), outcome);
    return computeSettlement(number, result, policy, ROUTE, pace);
  });

const pickTimes = ({ attempt, atRealSpeed }: Settlement) => ({
  attempt: attempt.atRealSpeed,
  ...atRealSpeed,
});

describe('delivery at a higher speed', () => {
  it('stores the times of real speed, for any speed and any delay of its queue', () => {
    fc.assert(
      fc.property(outcomes, policies, recentTimes, speeds, (all, policy, start, speed) => {
        const stored = atHighSpeed(all, policy, start, speed).map(pickTimes);
        const real = atRealSpeed(all, policy, start).map((settlement) => ({
          attempt: { startedAt: settlement.attempt.startedAt, durationMs: settlement.attempt.durationMs },
          ...(settlement.kind === 'retrying'
            ? { nextRetryAt: settlement.nextRetryAt.toISOString() }
            : { terminalAt: settlement.at.toISOString() }),
        }));
        expect(stored).toEqual(real);
      }),
      { numRuns: 500 },
    );
  });

  it('divides its waits by the speed', () => {
    fc.assert(
      fc.property(outcomes, policies, recentTimes, speeds, (all, policy, start, speed) => {
        const { baseSeconds, capSeconds } = policy;
        for (const settlement of atHighSpeed(all, policy, start, speed)) {
          if (settlement.kind !== 'retrying') continue;
          const { attempt, at, nextRetryAt } = settlement;
          const real = seconds(Math.min(baseSeconds * 2 ** (attempt.number - 1), capSeconds));
          const waited = nextRetryAt.getTime() - at.getTime();
          // Rounded up to a millisecond.
          expect(waited).toBeGreaterThanOrEqual(real / speed - 1e-6);
          expect(waited).toBeLessThanOrEqual(real / speed + 1 + 1e-6);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('has the same attempts and the same end', () => {
    fc.assert(
      fc.property(outcomes, policies, speeds, (all, policy, speed) => {
        const ends = (settlements: Settlement[]) =>
          settlements.map((settlement) => ({
            kind: settlement.kind,
            reason: settlement.kind === 'retrying' ? undefined : settlement.terminalReason,
            status: settlement.attempt.status,
          }));
        expect(ends(atHighSpeed(all, policy, NOW, speed))).toEqual(ends(atRealSpeed(all, policy, NOW)));
      }),
    );
  });

  it('can be stored', () => {
    fc.assert(
      fc.property(outcomes, policies, recentTimes, speeds, (all, policy, start, speed) => {
        for (const { attempt, atRealSpeed } of atHighSpeed(all, policy, start, speed)) {
          expect(AttemptRecord.parse(attempt)).toEqual(attempt);
          const delivery = aDelivery({ attemptLog: [attempt], atRealSpeed });
          expect(Delivery.parse(delivery)).toEqual(delivery);
        }
      }),
    );
  });

  it('ends eight failed attempts of ten seconds each at speed 1000 as if an hour had passed', () => {
    const failures = Array.from({ length: 8 }, () => ({ fails: true, durationMs: 10_000, lateMs: 0 }));
    const last = atHighSpeed(failures, DEFAULT_RETRY_POLICY, NOW, 1000).at(-1);
    const hourAndMore = seconds(63.5 * 60 + 8 * 10);
    expect(last).toMatchObject({
      kind: 'exhausted',
      at: later(NOW, hourAndMore / 1000),
      atRealSpeed: { terminalAt: later(NOW, hourAndMore).toISOString() },
    });
  });
});

describe('settlement of a simulated attempt', () => {
  const succeeded = buildResult(NOW, 5, { fails: false, durationMs: 5, lateMs: 0 });
  const failed = buildResult(NOW, 5, { fails: true, durationMs: 5, lateMs: 0 });

  it('has the request, and marks a success as simulated', () => {
    expect(computeSettlement(1, succeeded, DEFAULT_RETRY_POLICY, ROUTE)).toMatchObject({
      kind: 'succeeded',
      terminalReason: 'sandbox_simulated',
      attempt: { request },
    });
  });

  it('omits a request whose body is too large to be stored with each of eight attempts', () => {
    const LARGEST = 32_768;
    const of = (body: string) =>
      computeSettlement(
        1,
        { ...succeeded, simulated: { request: { ...request, body }, durationMs: 5 } },
        DEFAULT_RETRY_POLICY,
        ROUTE,
      ).attempt;
    expect(of('x'.repeat(LARGEST))).toHaveProperty('request');
    expect(of('x'.repeat(LARGEST + 1))).not.toHaveProperty('request');
    // The size is counted in bytes.
    expect(of('é'.repeat(LARGEST / 2 + 1))).not.toHaveProperty('request');
  });

  it('has the request of a failure too, whose end has the same reason as a real one', () => {
    expect(computeSettlement(1, failed, DEFAULT_RETRY_POLICY, ROUTE)).toMatchObject({ attempt: { request } });
    expect(computeSettlement(8, failed, DEFAULT_RETRY_POLICY, ROUTE)).toMatchObject({
      terminalReason: 'max_attempts',
      attempt: { request },
    });
  });

  it('has no other times at real speed', () => {
    for (const result of [succeeded, failed]) {
      const settlement = computeSettlement(1, result, DEFAULT_RETRY_POLICY, ROUTE);
      expect(settlement).not.toHaveProperty('atRealSpeed');
      expect(settlement.attempt).not.toHaveProperty('atRealSpeed');
    }
  });
});
