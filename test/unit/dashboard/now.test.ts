import { describe, expect, it } from 'vitest';
import { clockOf } from '../../../dashboard/src/app/now.ts';

/** A clock whose time and ticks the test makes. */
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

describe('the clock of all that tells how long ago something was', () => {
  it('goes on for all who look at it, and together', () => {
    const { clock, its } = aClock();
    let told = 0;
    clock.subscribe(() => {
      told += 1;
    });
    clock.subscribe(() => {
      told += 1;
    });
    its.time = 6_000;
    expect(clock.now()).toBe(1_000);
    its.tick?.();
    expect([clock.now(), told]).toEqual([6_000, 2]);
  });

  it('is right for whoever looks after nobody has for hours', () => {
    const { clock, its } = aClock();
    clock.subscribe(() => undefined)();
    expect(its.tick).toBeUndefined();
    its.time = 9_000_000;
    clock.subscribe(() => undefined);
    expect(clock.now()).toBe(9_000_000);
  });

  it('does not change between its ticks because one more looks', () => {
    const { clock, its } = aClock();
    clock.subscribe(() => undefined);
    its.time = 3_000;
    clock.subscribe(() => undefined);
    expect(clock.now()).toBe(1_000);
  });
});
