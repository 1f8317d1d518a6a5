import type { Program, Step } from './program.ts';

/*
 * docs/specification.md, Limits: 8 attempts; after a failure 30 s, doubled each time, at most an hour; a
 * deadline of 10 s.
 */
const MAX_ATTEMPTS = 8;
const BASE_MS = 30_000;
const CAP_MS = 3_600_000;
const DEADLINE_MS = 10_000;

/** One attempt of a delivery to a simulated receiver. Times in milliseconds, as they pass in the sandbox. */
export interface PlannedAttempt {
  number: number;
  /** After the delivery was made. */
  beginsAt: number;
  takes: number;
  /** What the receiver does; `timeout` also for an answer that comes too late. */
  result: Step['does'];
  isAccepted: boolean;
}

export interface Plan {
  attempts: readonly PlannedAttempt[];
  /** How the delivery ends. */
  end: 'succeeded' | 'exhausted';
  /** In milliseconds, as they pass in the sandbox. */
  endsAt: number;
}

/**
 * Plans the attempts of a delivery at an endpoint with this program, without the time that the service itself
 * takes. Waits are rounded up to whole seconds, as the queues round them.
 */
export function planOf({ steps, speed }: Program): Plan {
  const attempts: PlannedAttempt[] = [];
  let clock = 0;
  for (let number = 1; number <= MAX_ATTEMPTS && attempts.at(-1)?.isAccepted !== true; number += 1) {
    if (number > 1) {
      const wait = Math.min(BASE_MS * 2 ** (number - 2), CAP_MS);
      clock += Math.ceil(wait / speed / 1000) * 1000;
    }
    const { takes, result } = resultOf(steps[Math.min(number, steps.length) - 1]);
    const isAccepted = typeof result === 'number' && result >= 200 && result < 300;
    attempts.push({ number, beginsAt: clock, takes: takes / speed, result, isAccepted });
    clock += takes / speed;
  }
  const end = attempts.at(-1)?.isAccepted === true ? 'succeeded' : 'exhausted';
  return { attempts, end, endsAt: clock };
}

function resultOf(step: Step | undefined): { takes: number; result: Step['does'] } {
  const { does, afterMs } = step ?? { does: 200, afterMs: 0 };
  if (does === 'timeout' || afterMs >= DEADLINE_MS) return { takes: DEADLINE_MS, result: 'timeout' };
  return { takes: afterMs, result: does };
}
