import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { planOf } from '../../../dashboard/src/pages/sandbox/plan.ts';
import { FAILURES, type Step } from '../../../dashboard/src/pages/sandbox/program.ts';
import { getRetryPolicy, simulate } from '../../../functions/delivery/simulation.ts';
import {
  DEFAULT_ATTEMPT_TIMEOUT_SECONDS,
  DEFAULT_RETRY_POLICY,
  MAX_ATTEMPTS,
  scheduleNextAttempt,
} from '../../../functions/delivery/timing.ts';

const step = fc.record<Step>({
  does: fc.oneof(fc.integer({ min: 200, max: 599 }), fc.constantFrom(...FAILURES)),
  afterMs: fc.integer({ min: 0, max: 60_000 }),
});
const steps = fc.array(step, { minLength: 1, maxLength: 10 });
const speed = fc.integer({ min: 1, max: 3600 });

describe('the preview of a delivery', () => {
  it('has the attempts that the service makes at a receiver with this program', () => {
    fc.assert(
      fc.property(steps, speed, (written, fast) => {
        const plan = planOf({ steps: written, speed: fast });
        const policy = getRetryPolicy(
          DEFAULT_RETRY_POLICY,
          { generation: 1 },
          `https://x.example/?simulate-speed=${fast}`,
        );
        let dueAt = 0;
        for (const attempt of plan.attempts) {
          const result = simulate(
            { steps: written, speed: fast },
            attempt.number,
            DEFAULT_ATTEMPT_TIMEOUT_SECONDS * 1000,
          );
          expect(attempt.beginsAt).toBeCloseTo(dueAt, -2);
          expect(attempt.takes).toBeCloseTo(result.afterMs / fast, 3);
          expect(typeof attempt.result === 'number').toBe('status' in result);
          expect(attempt.isAccepted).toBe('status' in result && result.status < 300);
          const endedMs = attempt.beginsAt + attempt.takes;
          const waitMs = scheduleNextAttempt(attempt.number, new Date(0), policy).getTime();
          dueAt = endedMs + Math.ceil(waitMs / 1000) * 1000;
        }
      }),
    );
  });

  it('ends with the first accepted attempt, or with the last one', () => {
    fc.assert(
      fc.property(steps, speed, (written, fast) => {
        const { attempts, end } = planOf({ steps: written, speed: fast });
        expect(attempts.slice(0, -1).every(({ isAccepted }) => !isAccepted)).toBe(true);
        expect(end).toBe(attempts.at(-1)?.isAccepted ? 'succeeded' : 'exhausted');
        if (end === 'exhausted') expect(attempts).toHaveLength(MAX_ATTEMPTS);
      }),
    );
  });

  it('takes more than an hour where every attempt fails; at 1000 times the speed each wait takes at least a second', () => {
    const failing = { steps: [{ does: 503, afterMs: 0 }] };
    expect(planOf({ ...failing, speed: 1 }).endsAt).toBe(3_810_000);
    expect(planOf({ ...failing, speed: 1000 }).endsAt).toBe(8000);
  });

  it('counts an answer after the deadline as none', () => {
    const { attempts } = planOf({ steps: [{ does: 200, afterMs: 10_000 }], speed: 1 });
    expect(attempts).toHaveLength(MAX_ATTEMPTS);
    expect(attempts[0]).toMatchObject({ result: 'timeout', takes: 10_000, isAccepted: false });
  });
});
