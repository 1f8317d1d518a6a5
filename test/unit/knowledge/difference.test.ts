import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  computeDifference,
  countWords,
  findChanges,
  findPassages,
} from '../../../functions/knowledge/difference.ts';
import { normalizeText } from '../../../functions/knowledge/text.ts';
import { texts } from '../aws/arbitraries.ts';

const words = fc.array(fc.stringMatching(/^[a-e]{1,2}$/), { maxLength: 30 });
const gap = fc.constantFrom(' ', '  ', '\n', '\t', ', ', '. ', ' – ', ' ');

/** A text of exactly these words, with any separators. */
const buildText = (list: readonly string[]) =>
  fc
    .array(gap, { minLength: list.length, maxLength: list.length })
    .map((gaps) => list.map((word, index) => word + gaps[index]).join(''));

describe('word count', () => {
  it.each([
    ['', 0],
    [' \n\t', 0],
    ['– … !?', 0],
    ['one two  three', 3],
    ['one,two;three', 3],
    ["it's", 2],
    ['naïve', 1],
    ['nai\u0308ve', 1],
    ['v2', 1],
    ['3.14', 2],
    ['Ünïcödé Straße', 2],
    ['Привет, мир', 2],
    ['世界你好', 4],
    ['ひらがな', 4],
    ['カタカナ', 4],
    ['ไทย', 3],
    ['ລາວ', 3],
    ['ខ្មែរ', 5],
    ['မြန်', 4],
    ['한국어 문서', 2],
    ['v2世界beta', 4],
    ['مرحبا بالعالم', 2],
    ['𝒳 𠀀𠀁', 3],
    ['\ud800 a', 1],
  ])('of %j is %i', (text, count) => {
    expect(countWords(text)).toBe(count);
  });
});

describe('difference of two texts', () => {
  it.each([
    ['both empty', '', '', 0],
    ['neither with a word', '– !', '…', 0],
    ['nothing and something', '', 'a', 100],
    ['something and nothing', 'a b', ' ', 100],
    ['one of two words replaced', 'a b', 'a c', 50],
    ['a word added to three', 'a b c', 'a b c d', 14.29],
    ['the same words twice as often', 'a b', 'a b a b', 33.33],
    ['moved paragraphs', 'first part\n\nsecond part', 'second part\n\nfirst part', 0],
    ['other punctuation', 'Hello, world', 'Hello world!', 0],
    ['other letter case', 'Hello world', 'hello world', 50],
    ['another normal form', 'cafe\u0301', 'caf\u00e9', 0],
    ['a Chinese character of four', '世界你好', '世界你们', 25],
  ])('with %s is as calculated by hand', (_what, before, after, percent) => {
    expect(computeDifference(before, after)).toBe(percent);
  });

  it('is between 0 and 100 with two decimals, and the same in both directions, for any texts', () => {
    fc.assert(
      fc.property(texts, texts, (before, after) => {
        const percent = computeDifference(before, after);
        expect(percent).toBeGreaterThanOrEqual(0);
        expect(percent).toBeLessThanOrEqual(100);
        expect(Number(percent.toFixed(2))).toBe(percent);
        expect(computeDifference(after, before)).toBe(percent);
      }),
    );
  });

  it('is 0 for the same words, in any order and with any separators', () => {
    const pairs = words.chain((list) =>
      fc.tuple(
        buildText(list),
        fc.shuffledSubarray(list, { minLength: list.length }).chain((moved) => buildText(moved)),
      ),
    );
    fc.assert(
      fc.property(pairs, ([before, after]) => {
        expect(computeDifference(before, after)).toBe(0);
      }),
    );
  });

  it('is 0 only for the same words', () => {
    const sorted = (list: readonly string[]) => list.toSorted().join(' ');
    fc.assert(
      fc.property(words, words, (before, after) => {
        const isZero = computeDifference(before.join(' '), after.join(' ')) === 0;
        expect(isZero).toBe(sorted(before) === sorted(after));
      }),
    );
  });

  it('is 100 exactly for texts that share no word', () => {
    fc.assert(
      fc.property(words, words, (before, after) => {
        fc.pre(before.length + after.length > 0);
        const shareOne = before.some((word) => after.includes(word));
        expect(computeDifference(before.join(' '), after.join(' ')) === 100).toBe(!shareOne);
      }),
    );
  });

  it('grows with each replaced word', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 300 }), (count) => {
        const before = Array.from({ length: count }, (_, index) => `w${index}`);
        let last = -1;
        for (let replaced = 0; replaced <= count; replaced += 1) {
          const after = before.map((word, index) => (index < replaced ? `new${index}` : word));
          const percent = computeDifference(before.join(' '), after.join(' '));
          expect(percent).toBeGreaterThan(last);
          expect(Math.abs(percent - (100 * replaced) / count)).toBeLessThan(0.006);
          last = percent;
        }
      }),
      { numRuns: 20 },
    );
  });

  it('is never rounded to 0 or 100', () => {
    const many = 'same '.repeat(100_000);
    expect(computeDifference(many, `${many} other`)).toBe(0.01);
    const shared = (word: string) => `shared ${`${word} `.repeat(100_000)}`;
    expect(computeDifference(shared('old'), shared('new'))).toBe(99.99);
  });

  it('is independent of property names of objects', () => {
    expect(computeDifference('constructor __proto__', 'toString hasOwnProperty')).toBeGreaterThan(0);
    expect(computeDifference('constructor toString', 'toString constructor')).toBe(0);
  });

  // Each of these took minutes with a quadratic algorithm; the time limit of a test is half a minute.
  it.each([
    ['a megabyte of words', 'word '.repeat(200_000), 'other '.repeat(170_000)],
    ['a megabyte of different words', different('a'), different('b')],
    ['one word of a megabyte', 'a'.repeat(1_000_000), 'b'.repeat(1_000_000)],
    ['single letters', 'a '.repeat(500_000), 'b '.repeat(500_000)],
    ['a megabyte of Chinese', '世'.repeat(333_000), '界'.repeat(333_000)],
    ['marks in the wrong order', 'a\u0301\u0323'.repeat(200_000), 'b\u0323\u0301'.repeat(200_000)],
  ])('of %s is computed in time', (_what, before, after) => {
    expect(computeDifference(before, after)).toBe(100);
  });

  it('of combining marks in the wrong order is computed in time', () => {
    expect(computeDifference('\u0301\u0323'.repeat(250_000), '\u0323\u0301'.repeat(250_000))).toBe(0);
  });
});

describe('normal form', () => {
  it('is that of Unicode for text with up to 30 marks in a row', () => {
    const marks = fc.string({
      unit: fc.constantFrom('a', 'e', '\u0301', '\u0323', '\u0308', 'й', '가'),
      maxLength: 30,
    });
    fc.assert(
      fc.property(marks, (text) => {
        expect(normalizeText(text)).toBe(text.normalize('NFC'));
      }),
    );
  });

  it('is idempotent, for any text', () => {
    fc.assert(
      fc.property(texts, (text) => {
        expect(normalizeText(normalizeText(text))).toBe(normalizeText(text));
      }),
    );
  });

  it('omits marks after the thirtieth', () => {
    expect(normalizeText(`x${'\u0305'.repeat(31)}y`)).toBe(`x${'\u0305'.repeat(30)}y`);
  });
});

function different(prefix: string): string {
  return Array.from({ length: 150_000 }, (_, index) => prefix + index).join(' ');
}

const lines = fc.array(fc.constantFrom('one', 'two', 'three four', '', '  '), { maxLength: 12 });

describe('changes between two texts', () => {
  it('are the added and the removed lines, in their order', () => {
    expect(findChanges('a\nb\nc\nd', 'x\na\ny\nd\nz', 100)).toEqual({ added: 'x\ny\nz', removed: 'b\nc' });
  });

  it('are empty for moved lines and other whitespace', () => {
    expect(findChanges('a\nb\n\nc', '  c\r\n\n\tb\na  ', 100)).toEqual({ added: '', removed: '' });
  });

  it('count a line as often as it occurs', () => {
    expect(findChanges('a\na\na', 'a', 100)).toEqual({ added: '', removed: 'a\na' });
    expect(findChanges('a', 'a\na\na', 100)).toEqual({ added: 'a\na', removed: '' });
  });

  it('are reversed with the texts', () => {
    fc.assert(
      fc.property(lines, lines, fc.nat({ max: 60 }), (before, after, room) => {
        const there = findChanges(before.join('\n'), after.join('\n'), room);
        const back = findChanges(after.join('\n'), before.join('\n'), room);
        expect(back).toEqual({ added: there.removed, removed: there.added });
      }),
    );
  });

  it('lead from the lines of one text to those of the other', () => {
    const sorted = (list: readonly string[]) => list.filter((line) => line.trim() !== '').toSorted();
    fc.assert(
      fc.property(lines, lines, (before, after) => {
        const { added, removed } = findChanges(before.join('\n'), after.join('\n'), 10_000);
        expect(sorted([...before, ...added.split('\n')])).toEqual(sorted([...after, ...removed.split('\n')]));
      }),
    );
  });
});

describe('truncated changes', () => {
  it.each([
    ['one two three', 13, 'one two three'],
    ['one two three', 12, 'one two…'],
    ['one two three', 8, 'one two…'],
    ['one two three', 7, 'one…'],
    ['one two three', 4, 'one…'],
    ['one two three', 3, 'on…'],
    ['one, two', 5, 'one,…'],
    ['first\nsecond', 9, 'first…'],
    ['一二三四五', 4, '一二三…'],
    ['word一二三', 6, 'word一…'],
    ['😀😀😀', 4, '😀…'],
    ['𠀀𠀁𠀂', 4, '𠀀…'],
    ['one', 1, '…'],
    ['one', 0, ''],
  ])('of %j in %i characters are %j', (after, room, shown) => {
    expect(findChanges('', after, room).added).toBe(shown);
  });

  it('are never longer than allowed, and well-formed when the text is', () => {
    fc.assert(
      fc.property(texts, fc.nat({ max: 50 }), (text, room) => {
        const { added } = findChanges('', text.toWellFormed(), room);
        expect(added.length).toBeLessThanOrEqual(room);
        expect(added.isWellFormed()).toBe(true);
      }),
    );
  });

  it.each([
    ['of a megabyte in a line', 'a'.repeat(1_000_000)],
    ['of half a million lines', 'a\n'.repeat(500_000)],
    ['of a megabyte of spaces and tabs', `a${' \t'.repeat(500_000)}b`],
  ])('%s are computed in time', (_what, text) => {
    expect(findChanges('', text, 500).added.length).toBeLessThanOrEqual(500);
  });
});

describe('passages of changed lines', () => {
  const kept = ['kept 1', 'kept 2', 'kept 3', 'kept 4', 'kept 5'];
  const runs = ['a', 'b b b b b', 'c c', 'd d d\nd d d'];
  const after = runs.map((run, index) => `${kept[index]}\n${run}`).join('\n');

  it('are the three largest, largest first, in place of those that changed first', () => {
    expect(findPassages(kept.slice(0, 4).join('\n'), after, 1000)).toEqual({
      added: 'd d d\nd d d\n\nb b b b b\n\nc c',
      removed: '',
    });
  });

  it('are shortened, each to its share', () => {
    const { added } = findPassages('', `${'long '.repeat(100)}\nkept`, 20);
    expect(added).toBe('long long long long…');
    const texts = ['x y '.repeat(50), 'kept 1', 'u v '.repeat(40), 'kept 2', 'r s '.repeat(30)].join('\n');
    const parts = findPassages('kept 1\nkept 2', texts, 100).added.split('\n\n');
    expect(parts.map((part) => part[0])).toEqual(['x', 'u', 'r']);
    for (const part of parts) expect(part.length).toBeLessThanOrEqual(32);
  });

  it('stand for all changes where these are too long', () => {
    expect(findChanges('kept', `small\nkept\n${'large '.repeat(20)}`, 40).added).toMatch(
      /^large .*…\n\nsmall$/s,
    );
  });
});
