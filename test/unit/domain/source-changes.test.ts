import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/domain/ids.ts';
import {
  getComparedVersions,
  listChangesSince,
  MAX_SHOWN_CHANGES,
} from '../../../functions/domain/source-check.ts';
import { NOW } from '../../builders.ts';
import { texts } from './arbitraries.ts';

const sourceId = newId('src', NOW);
const version = (number: number) => ({ version: number, parts: 1 });
const content = (number: number) => ({ version: number, digest: 'd', words: 1 });
const between = (before: string, after: string) =>
  listChangesSince(sourceId, { from: version(1), before }, { to: version(3), after });

describe('the versions that are compared', () => {
  it('are the one that admins know and the present one', () => {
    const stored = [version(1), version(2), version(4)];
    expect(getComparedVersions({ stored, baseline: 2, content: content(4) })).toEqual({
      from: version(2),
      to: version(4),
    });
    expect(getComparedVersions({ stored, baseline: 4, content: content(4) })).toEqual({
      from: version(4),
      to: version(4),
    });
  });

  it('begin with the next one that is there, where the one that admins know is not', () => {
    expect(getComparedVersions({ stored: [version(5)], baseline: 2, content: content(5) }).from).toEqual(
      version(5),
    );
  });

  it('are none before the first import', () => {
    expect(getComparedVersions({ stored: [] })).toEqual({ from: undefined, to: undefined });
  });
});

describe('what has changed in a source', () => {
  it('is what came, what went, and how much that is', () => {
    expect(between('one two\nthree four', 'one two\nfive six')).toEqual({
      sourceId,
      from: { version: 1, words: 4 },
      to: { version: 3, words: 4 },
      difference: 50,
      added: 'five six',
      removed: 'three four',
    });
  });

  it('is nothing between equal texts, and 4,000 characters of each at most between any', () => {
    fc.assert(
      fc.property(texts, texts, (before, after) => {
        expect(between(before, before)).toMatchObject({ difference: 0, added: '', removed: '' });
        const { added, removed } = between(before, after);
        for (const text of [added, removed]) expect(text.length).toBeLessThanOrEqual(MAX_SHOWN_CHANGES);
      }),
    );
    expect(between('', 'word '.repeat(10_000)).added).toHaveLength(MAX_SHOWN_CHANGES);
  });

  it('stays the text that it was, whatever it looks like', () => {
    const hostile = '<script>alert(1)</script> {{constructor}} javascript:alert(1) \u202e"&amp;';
    expect(between('before', hostile).added).toBe(hostile);
  });

  it('is not known while a text is missing', () => {
    expect(
      listChangesSince(sourceId, { from: undefined, before: undefined }, { to: version(1), after: 'one' }),
    ).toEqual({
      sourceId,
      from: undefined,
      to: { version: 1, words: 1 },
      difference: undefined,
      added: '',
      removed: '',
    });
  });
});
