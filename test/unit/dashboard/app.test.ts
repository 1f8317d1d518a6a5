import { describe, expect, it } from 'vitest';
import { halfOf, pathIn, samePlaceIn } from '../../../dashboard/src/app/environment.ts';
import { clockOf } from '../../../dashboard/src/app/now.ts';
import { pageFiles } from '../../../dashboard/src/app/page-files.ts';

describe('the environment of a path', () => {
  it.each([
    ['/', 'live'],
    ['/endpoints/whk_1', 'live'],
    ['/sandbox/overview', 'sandbox'],
    ['/sandbox/endpoints/whk_1', 'sandbox'],
  ])('of %s is %s', (path, half) => {
    expect(halfOf(path)).toBe(half);
  });

  it.each(['/api-keys', '/sandbox', '/usage', '/settings', '/sandboxes'])(
    'stays the previous one on a page of the whole organization: %s',
    (path) => {
      expect(halfOf(path)).toBeUndefined();
    },
  );

  it.each([
    ['/', '/sandbox/overview'],
    ['/deliveries', '/sandbox/deliveries'],
  ])('is changed by a prefix: %s', (live, sandbox) => {
    expect(pathIn('sandbox', live)).toBe(sandbox);
    expect(pathIn('live', live)).toBe(live);
  });

  it.each([
    ['/', '/', '/sandbox/overview'],
    ['/sandbox/overview', '/', '/sandbox/overview'],
    ['/endpoints', '/endpoints', '/sandbox/endpoints'],
    ['/sandbox/deliveries/whk_1/dlv_1', '/deliveries', '/sandbox/deliveries'],
    ['/usage', '/', '/sandbox/overview'],
    ['/sandbox', '/', '/sandbox/overview'],
  ])('switches from %s to the same list of the other environment', (from, live, sandbox) => {
    expect(samePlaceIn('live', from)).toBe(live);
    expect(samePlaceIn('sandbox', from)).toBe(sandbox);
  });
});

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

/** A tab whose page can be reloaded; its storage survives that. */
function aTab({ isAnswering = true } = {}) {
  const its = { reloads: 0, isAnswering, mark: null as string | null };
  const load = pageFiles({
    isReloaded: () => its.mark !== null,
    markReloaded: (isReloaded) => {
      its.mark = isReloaded ? 'yes' : null;
    },
    answers: () => Promise.resolve(its.isAnswering),
    reload: () => {
      its.reloads += 1;
    },
  });
  return { its, load };
}

const missing = () => Promise.reject(new TypeError('Failed to fetch dynamically imported module'));
const there = () => Promise.resolve('the page');
/** The state after all pending promises. */
const settled = async (loading: Promise<unknown>) => {
  const never = Symbol('still in progress');
  const waiting = new Promise((resolve) => setTimeout(resolve, 10, never));
  const result = await Promise.race([loading.catch((error: unknown) => error), waiting]);
  return result === never ? 'in progress' : result;
};

describe('the file of a page', () => {
  it('is loaded', async () => {
    const { load } = aTab();
    expect(await load(there)).toBe('the page');
  });

  it('causes one reload when a deployment has replaced it', async () => {
    const { its, load } = aTab();
    expect(await settled(load(missing))).toBe('in progress');
    expect(its.reloads).toBe(1);
    expect(await settled(load(missing))).toMatchObject({ name: 'ApiFailure', type: 'NETWORK' });
    expect(its.reloads).toBe(1);
  });

  it('causes another reload after the next deployment', async () => {
    const { its, load } = aTab();
    await settled(load(missing));
    await load(there);
    await settled(load(missing));
    expect(its.reloads).toBe(2);
  });

  it('causes no reload when no server answers, so that typed text is kept', async () => {
    const { its, load } = aTab({ isAnswering: false });
    expect(await settled(load(missing))).toMatchObject({ name: 'ApiFailure', status: 0 });
    expect(its.reloads).toBe(0);
    its.isAnswering = true;
    expect(await settled(load(missing))).toBe('in progress');
    expect(its.reloads).toBe(1);
  });
});
