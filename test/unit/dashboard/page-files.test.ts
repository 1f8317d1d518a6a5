import { describe, expect, it } from 'vitest';
import { pageFiles } from '../../../dashboard/src/app/page-files.ts';

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
