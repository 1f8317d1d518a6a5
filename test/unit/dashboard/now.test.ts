import { describe, expect, it } from 'vitest';
import { clockOf } from '../../../dashboard/src/app/now.ts';

/** A clock whose time and ticks the test sets. */
function aClock() {
  const its = { time: 1_000, tick: undefined as (() => void) | undefined };
  const clock = clockOf({
    read: () => its.time,
    every(_, action) {
      its.tick = action;
      return () => {
        its.tick = undefined;
      };
    },
  });
  return { clock, its };
}

describe('the clock of relative times', () => {
  it('ticks for all readers together', () => {
    const { clock, its } = aClock();
    let notified = 0;
    clock.subscribe(() => {
      notified += 1;
    });
    clock.subscribe(() => {
      notified += 1;
    });
    its.time = 6_000;
    expect(clock.now()).toBe(1_000);
    its.tick?.();
    expect([clock.now(), notified]).toEqual([6_000, 2]);
  });

  it('is right for the first reader after hours without one', () => {
    const { clock, its } = aClock();
    clock.subscribe(() => undefined)();
    expect(its.tick).toBeUndefined();
    its.time = 9_000_000;
    clock.subscribe(() => undefined);
    expect(clock.now()).toBe(9_000_000);
  });

  it('does not change between its ticks when a reader is added', () => {
    const { clock, its } = aClock();
    clock.subscribe(() => undefined);
    its.time = 3_000;
    clock.subscribe(() => undefined);
    expect(clock.now()).toBe(1_000);
  });
});
