import { describe, expect, it } from 'vitest';
import { memoizeFor } from '../../../functions/domain/memoize.ts';
import { later, NOW, seconds } from '../../builders.ts';

const FRESH = seconds(30);

/** Answers that a test changes, and the keys of the calls that were not cached. */
function aSource(answers: Record<string, unknown>) {
  const asked: string[] = [];
  const ask = memoizeFor(async (key: string) => {
    asked.push(key);
    return answers[key];
  }, FRESH);
  return { ask, asked, answers };
}

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

  it('is dropped when there are very many, and each key gets its own answer', async () => {
    const asked: number[] = [];
    const ask = memoizeFor(async (key: number) => {
      asked.push(key);
      return -key;
    }, FRESH);
    for (let key = 0; key < 5_000; key++) expect(await ask(key, NOW)).toBe(-key);
    // If all of them were cached, there would be no further calls.
    for (let key = 0; key < 5_000; key++) expect(await ask(key, NOW)).toBe(-key);
    expect(asked.length).toBeGreaterThan(5_000);
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
    }, FRESH);
    await expect(ask('a', NOW)).rejects.toThrow('down');
    fails = false;
    expect(await ask('a', NOW)).toBe('up');
  });
});
