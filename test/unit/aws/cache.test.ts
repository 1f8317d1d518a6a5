import { describe, expect, it } from 'vitest';
import { BoundedMap, loadOnce, memoizeFor, refreshedValue } from '../../../functions/aws/cache.ts';
import { later, NOW, seconds } from '../../builders.ts';

const FRESH = seconds(30);
const TERMS = { capacity: 1000, freshMs: FRESH };

/** Answers that a test changes, and the keys of the calls that were not cached. */
function aSource(answers: Record<string, unknown>) {
  const asked: string[] = [];
  const ask = memoizeFor(async (key: string) => {
    asked.push(key);
    return answers[key];
  }, TERMS);
  return { ask, asked, answers };
}

describe('bounded map', () => {
  it('never has more entries than its capacity, and always the last one', () => {
    const map = new BoundedMap<number, number>(7);
    for (let step = 0; step < 1_000; step++) {
      map.set((step * 37) % 23, step);
      if (step % 5 === 0) map.delete((step * 11) % 23);
      expect(map.size).toBeLessThanOrEqual(7);
      if (step % 5 !== 0) expect(map.get((step * 37) % 23)).toBe(step);
    }
  });
});

describe('memoized answer', () => {
  it('is returned until it expires', async () => {
    const { ask, asked, answers } = aSource({ a: 'first' });
    expect(await ask('a', NOW)).toBe('first');
    answers.a = 'second';
    expect(await ask('a', later(NOW, FRESH - 1))).toBe('first');
    expect(asked).toEqual(['a']);
    expect(await ask('a', later(NOW, FRESH))).toBe('second');
    expect(asked).toEqual(['a', 'a']);
  });

  it('is not renewed by further calls', async () => {
    const { ask, asked } = aSource({ a: 'first' });
    for (let time = 0; time < FRESH; time += seconds(10)) await ask('a', later(NOW, time));
    await ask('a', later(NOW, FRESH));
    expect(asked).toEqual(['a', 'a']);
  });

  it('belongs to its own key', async () => {
    const { ask, asked } = aSource({ a: 'of a', b: 'of b' });
    expect([await ask('a', NOW), await ask('b', NOW), await ask('a', NOW)]).toEqual(['of a', 'of b', 'of a']);
    expect(asked).toEqual(['a', 'b']);
  });

  it('is cached when it is falsy', async () => {
    const { ask, asked } = aSource({ a: false, b: 0, c: null });
    for (const key of ['a', 'b', 'c', 'a', 'b', 'c']) await ask(key, NOW);
    expect(asked).toEqual(['a', 'b', 'c']);
  });

  it('makes room when there are more than the capacity', async () => {
    const asked: number[] = [];
    const ask = memoizeFor(
      async (key: number) => {
        asked.push(key);
        return -key;
      },
      { capacity: 2, freshMs: FRESH },
    );
    for (const key of [1, 2, 3, 2, 3, 1]) expect(await ask(key, NOW)).toBe(-key);
    expect(asked).toEqual([1, 2, 3, 1]);
  });
});

describe('missing answer', () => {
  it('is requested each time, since it may exist by then', async () => {
    const { ask, asked, answers } = aSource({});
    expect(await ask('a', NOW)).toBeUndefined();
    answers.a = 'new';
    expect(await ask('a', NOW)).toBe('new');
    expect(asked).toEqual(['a', 'a']);
  });

  it('does not evict the answer of another key', async () => {
    const { ask, asked } = aSource({ a: 'of a' });
    await ask('a', NOW);
    for (let key = 0; key < 2_000; key++) await ask(`missing-${key}`, NOW);
    await ask('a', NOW);
    expect(asked.filter((key) => key === 'a')).toEqual(['a']);
  });
});

describe('failing call', () => {
  it('fails its caller, and is repeated by the next', async () => {
    let fails = true;
    const ask = memoizeFor(async () => {
      if (fails) throw new Error('down');
      return 'up';
    }, TERMS);
    await expect(ask('a', NOW)).rejects.toThrow('down');
    fails = false;
    expect(await ask('a', NOW)).toBe('up');
  });
});

describe('value that is loaded once', () => {
  it('is shared by concurrent and later callers', async () => {
    let loads = 0;
    const get = loadOnce(async () => ++loads);
    expect(await Promise.all([get(), get()])).toEqual([1, 1]);
    expect(await get()).toBe(1);
  });

  it('is loaded by the next caller after a failure', async () => {
    let loads = 0;
    const get = loadOnce(async () => {
      if (++loads === 1) throw new Error('down');
      return loads;
    });
    await expect(Promise.all([get(), get()])).rejects.toThrow('down');
    expect(await get()).toBe(2);
  });
});

describe('value that is refreshed', () => {
  function aValue() {
    const state = { time: 0, value: 'first', isDown: false, loads: 0 };
    const value = refreshedValue(
      async () => {
        state.loads += 1;
        if (state.isDown) throw new Error('down');
        return state.value;
      },
      { freshMs: 100, retryMs: 10, now: () => state.time },
    );
    return { ...value, state };
  }

  it('is loaded again when it is as old as its terms say', async () => {
    const { get, peek, state } = aValue();
    expect(peek()).toBeUndefined();
    expect(await Promise.all([get(), get()])).toEqual(['first', 'first']);
    state.value = 'second';
    state.time = 99;
    expect(await get()).toBe('first');
    state.time = 100;
    expect(await get()).toBe('second');
    expect([peek(), state.loads]).toEqual(['second', 2]);
  });

  it('stays in use when it cannot be loaded, and is tried again after a time', async () => {
    const { get, state } = aValue();
    await get();
    Object.assign(state, { time: 100, value: 'second', isDown: true });
    expect(await get()).toBe('first');
    Object.assign(state, { time: 109, isDown: false });
    expect(await get()).toBe('first');
    state.time = 110;
    expect(await get()).toBe('second');
  });

  it('fails its callers before it is known, and each time on demand', async () => {
    const { get, reload, state } = aValue();
    state.isDown = true;
    await expect(get()).rejects.toThrow('down');
    state.isDown = false;
    expect(await get()).toBe('first');
    state.value = 'second';
    expect([await reload(), await get()]).toEqual(['second', 'second']);
    state.isDown = true;
    await expect(reload()).rejects.toThrow('down');
  });
});
