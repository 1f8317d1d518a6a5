import { describe, expect, it } from 'vitest';
import { memoizeFor } from '../../../functions/domain/memoize.ts';
import { later, NOW, seconds } from '../../builders.ts';

const FRESH = seconds(30);

/** Answers that a test changes, and the questions that came through to them. */
function aSource(answers: Record<string, unknown>) {
  const asked: string[] = [];
  const ask = memoizeFor(async (key: string) => {
    asked.push(key);
    return answers[key];
  }, FRESH);
  return { ask, asked, answers };
}

describe('a remembered answer', () => {
  it('is given again until it is too old', async () => {
    const { ask, asked, answers } = aSource({ a: 'first' });
    expect(await ask('a', NOW)).toBe('first');
    answers.a = 'second';
    expect(await ask('a', later(NOW, FRESH - 1))).toBe('first');
    expect(asked).toEqual(['a']);
    expect(await ask('a', later(NOW, FRESH))).toBe('second');
    expect(asked).toEqual(['a', 'a']);
  });

  it('gets no younger by being asked for', async () => {
    const { ask, asked } = aSource({ a: 'first' });
    for (let time = 0; time < FRESH; time += seconds(10)) await ask('a', later(NOW, time));
    await ask('a', later(NOW, FRESH));
    expect(asked).toEqual(['a', 'a']);
  });

  it('is of its own question alone', async () => {
    const { ask, asked } = aSource({ a: 'of a', b: 'of b' });
    expect([await ask('a', NOW), await ask('b', NOW), await ask('a', NOW)]).toEqual(['of a', 'of b', 'of a']);
    expect(asked).toEqual(['a', 'b']);
  });

  it('is kept also when it is one that means no', async () => {
    const { ask, asked } = aSource({ a: false, b: 0, c: null });
    for (const key of ['a', 'b', 'c', 'a', 'b', 'c']) await ask(key, NOW);
    expect(asked).toEqual(['a', 'b', 'c']);
  });

  it('is given up when there are very many, and the right one is given all the same', async () => {
    const asked: number[] = [];
    const ask = memoizeFor(async (key: number) => {
      asked.push(key);
      return -key;
    }, FRESH);
    for (let key = 0; key < 5_000; key++) expect(await ask(key, NOW)).toBe(-key);
    // Were all of them kept, none would be asked for again.
    for (let key = 0; key < 5_000; key++) expect(await ask(key, NOW)).toBe(-key);
    expect(asked.length).toBeGreaterThan(5_000);
  });
});

describe('what is missing', () => {
  it('is asked for each time, since it may have come to be', async () => {
    const { ask, asked, answers } = aSource({});
    expect(await ask('a', NOW)).toBeUndefined();
    answers.a = 'new';
    expect(await ask('a', NOW)).toBe('new');
    expect(asked).toEqual(['a', 'a']);
  });

  it('takes away no answer to another question', async () => {
    const { ask, asked } = aSource({ a: 'of a' });
    await ask('a', NOW);
    for (let key = 0; key < 2_000; key++) await ask(`missing-${key}`, NOW);
    await ask('a', NOW);
    expect(asked.filter((key) => key === 'a')).toEqual(['a']);
  });
});

describe('a question that fails', () => {
  it('fails who asked, and is asked again by the next', async () => {
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
