import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import {
  getComparedVersions,
  listSourceChanges,
  MAX_SHOWN_CHANGES,
} from '../../../functions/knowledge/difference.ts';
import { NOW } from '../../builders.ts';
import { texts } from '../aws/arbitraries.ts';

const sourceId = newId('src', NOW);
const version = (number: number) => ({ version: number, parts: 1 });
const content = (number: number) => ({ version: number, digest: 'd', words: 1 });
const between = (before: string | undefined, after: string) =>
  listSourceChanges(
    { id: sourceId, stored: [version(1), version(3)], baseline: 1, content: content(3) },
    (shown) => (shown.version === 1 ? before : after),
  );

describe('compared versions of a source', () => {
  it('are the baseline and the present one', () => {
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

  it('begin with the next stored version when the baseline is missing', () => {
    expect(
      getComparedVersions({ stored: [7, 5, 9, 1].map(version), baseline: 2, content: content(9) }).from,
    ).toEqual(version(5));
  });

  it('are undefined before the first import', () => {
    expect(getComparedVersions({ stored: [] })).toEqual({ from: undefined, to: undefined });
  });
});

describe('changes of a source', () => {
  it('have the added and removed text, and the difference', () => {
    expect(between('one two\nthree four', 'one two\nfive six')).toEqual({
      sourceId,
      from: { version: 1, words: 4 },
      to: { version: 3, words: 4 },
      difference: 50,
      added: 'five six',
      removed: 'three four',
      announced: undefined,
    });
  });

  it('include those of the last e-mail, with the changes since beside them', () => {
    const texts = new Map([
      [1, 'one two'],
      [3, 'one three'],
      [4, 'one four'],
    ]);
    const announcedAt = NOW.toISOString();
    const versions = { id: sourceId, announcedFrom: 1, baseline: 3, lastNotifiedAt: announcedAt };
    const shown = listSourceChanges(
      { ...versions, stored: [1, 3, 4].map(version), content: content(4) },
      ({ version }) => texts.get(version),
    );

    expect(shown).toMatchObject({ from: { version: 3 }, to: { version: 4 }, added: 'one four' });
    expect(shown.announced).toEqual({
      from: { version: 1, words: 2 },
      to: { version: 3, words: 2 },
      difference: 50,
      added: 'one three',
      removed: 'one two',
      announcedAt,
    });
  });

  it('are empty for equal texts, and at most 4,000 characters of each for any texts', () => {
    fc.assert(
      fc.property(texts, texts, (before, after) => {
        expect(between(before, before)).toMatchObject({ difference: 0, added: '', removed: '' });
        const { added, removed } = between(before, after);
        for (const text of [added, removed]) expect(text.length).toBeLessThanOrEqual(MAX_SHOWN_CHANGES);
      }),
    );
    expect(between('', 'word '.repeat(10_000)).added).toHaveLength(MAX_SHOWN_CHANGES);
  });

  it('keep hostile text unchanged', () => {
    const hostile = '<script>alert(1)</script> {{constructor}} javascript:alert(1) \u202e"&amp;';
    expect(between('before', hostile).added).toBe(hostile);
  });

  it('are unknown while a text is missing', () => {
    expect(between(undefined, 'one')).toEqual({
      sourceId,
      from: undefined,
      to: { version: 3, words: 1 },
      difference: undefined,
      added: '',
      removed: '',
      announced: undefined,
    });
  });
});
