import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { computeDifference, countWords } from '../../../functions/knowledge/difference.ts';
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
