import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findChanges, findPassages } from '../../../functions/knowledge/difference.ts';
import { texts } from '../aws/arbitraries.ts';

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
