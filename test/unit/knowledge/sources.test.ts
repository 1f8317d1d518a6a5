import type { QueryCommand } from '@aws-sdk/lib-dynamodb';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import type { Table } from '../../../functions/aws/table.ts';
import { scheduleNextCheck, toSourceContent } from '../../../functions/knowledge/check-source.ts';
import {
  computeDifference,
  getComparedVersions,
  listSourceChanges,
  MAX_SHOWN_CHANGES,
} from '../../../functions/knowledge/difference.ts';
import { sourceVersions } from '../../../functions/knowledge/source-checks.ts';
import { simulateContent } from '../../../functions/knowledge/source-content.ts';
import { toSourceView } from '../../../functions/knowledge/sources.ts';
import { aSource, NOW } from '../../builders.ts';
import { texts } from '../aws/arbitraries.ts';

const imported = toSourceContent(2, { text: 'one two' });

describe('status of a source', () => {
  it.each([
    ['pending', {}],
    ['ok', { content: imported }],
    ['failing', { lastError: 'timed out after 20 s' }],
    ['failing', { content: imported, lastError: 'timed out after 20 s' }],
  ] as const)('is %s with %j', (status, changes) => {
    expect(toSourceView(aSource(changes)).status).toBe(status);
  });
});

describe('view of a source', () => {
  it('has no content before the import', () => {
    const { version, words, title, difference, status } = toSourceView(aSource());
    expect([version, words, title, difference, status]).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
      'pending',
    ]);
  });

  it.each([
    ['0 while the text is the baseline', { baseline: 2 }, 0],
    ['the measurement from the baseline', { baseline: 1, measured: { from: 1, difference: 12.5 } }, 12.5],
    [
      'undefined after a measurement from another version',
      { baseline: 1, measured: { from: 0, difference: 1 } },
      undefined,
    ],
    [
      '0 once it is the baseline, for any measurement',
      { baseline: 2, measured: { from: 1, difference: 30 } },
      0,
    ],
  ])('has the difference %s', (_, changes, difference) => {
    expect(toSourceView(aSource({ content: imported, ...changes })).difference).toBe(difference);
  });
});

describe('next check', () => {
  const interval = fc.double({ min: 1, max: 604_800, noNaN: true });
  const chance = fc.double({ min: 0, max: 1, noNaN: true });

  it('is within the interval, and not much earlier', () => {
    fc.assert(
      fc.property(interval, chance, (every, random) => {
        const wait = scheduleNextCheck(NOW, every, random).getTime() - NOW.getTime();
        expect(wait).toBeLessThanOrEqual(Math.round(every * 1000));
        expect(wait).toBeGreaterThanOrEqual(Math.floor(every * 1000 * 0.9));
      }),
    );
  });

  it('is spread over minutes for sources that were checked at once', () => {
    const times = Array.from({ length: 10 }, (_, index) =>
      scheduleNextCheck(NOW, 3600, index / 10).getTime(),
    );
    expect(new Set(times).size).toBe(10);
    expect(Math.max(...times) - Math.min(...times)).toBeGreaterThan(300_000);
  });
});

describe('stored content', () => {
  it('has a digest that differs exactly for different texts', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (first, second) => {
        const digests = [
          toSourceContent(1, { text: first }).digest,
          toSourceContent(2, { text: second, title: 't' }).digest,
        ];
        expect(digests[0] === digests[1]).toBe(first === second);
      }),
    );
  });

  it('has a bounded title, or none', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 400 }), (title) => {
        const { title: kept } = toSourceContent(1, { text: '', title });
        expect(kept === undefined).toBe(title.trim() === '');
        expect(kept?.length ?? 0).toBeLessThanOrEqual(300);
        expect(kept?.isWellFormed() ?? true).toBe(true);
      }),
    );
  });
});

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

it('a query for the texts of a deleted source has no empty key value, which DynamoDB rejects', async () => {
  const inputs: QueryCommand['input'][] = [];
  const client = {
    send: async ({ input }: QueryCommand) => {
      inputs.push(input);
      return { Items: [] };
    },
  } as unknown as Table['client'];
  const now = new Date();

  await sourceVersions({ client, name: 'Knowledge' }).removeAll({
    orgId: newId('org', now),
    generation: 0,
    id: newId('src', now),
  });

  expect(inputs).toHaveLength(1);
  expect(Object.values(inputs[0]?.ExpressionAttributeValues ?? {})).not.toContain('');
});

const at = (program: string) => `https://example.com/page?simulate=${program}`;
const fetchText = (url: string, check: number): string => {
  const finding = simulateContent(url, check);
  if (finding.kind !== 'fetched') throw new Error(`check ${check} of ${url} brought no text`);
  return finding.text;
};

describe("check of a sandbox's source", () => {
  it('finds the same text each time for a URL without a program', () => {
    fc.assert(
      fc.property(
        fc.stringMatching(/^[a-z0-9/]{0,20}$/),
        fc.integer({ min: 1, max: 1000 }),
        (path, check) => {
          const url = `https://example.com/${path}`;
          expect(fetchText(url, check)).toBe(fetchText(url, 1));
        },
      ),
    );
  });

  it('finds a completely different text at another step, and the same at the same one', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 50 }),
        fc.integer({ min: 1, max: 60 }),
        fc.integer({ min: 1, max: 60 }),
        (steps, first, second) => {
          const url = at(Array.from({ length: steps }, () => '200').join(','));
          const same = Math.min(first, steps) === Math.min(second, steps);
          expect(computeDifference(fetchText(url, first), fetchText(url, second))).toBe(same ? 0 : 100);
        },
      ),
    );
  });

  it.each([
    ['503', 'http_status', 'the server answered 503'],
    ['404', 'http_status', 'the server answered 404'],
    ['204', 'http_status', 'the server answered 204'],
    ['302', 'http_status', 'the server answered 302'],
    ['timeout', 'timeout', 'timed out after 20 s'],
    ['200@21s', 'timeout', 'timed out after 20 s'],
    ['refused', 'connection_refused', 'connection refused'],
    ['dns', 'dns', 'host name does not resolve'],
  ])('fails at %s: %s, %s', (step, errorCode, error) => {
    expect(simulateContent(at(step), 1)).toEqual({ kind: 'failed', errorCode, error });
  });

  it('finds unmodified content at 304', () => {
    expect(simulateContent(at('200,304'), 2)).toEqual({ kind: 'not-modified' });
  });

  it('takes one step per check, and stays at the last', () => {
    const url = at('200,503,200');
    expect(simulateContent(url, 2)).toMatchObject({ kind: 'failed' });
    expect(fetchText(url, 3)).not.toBe(fetchText(url, 1));
    expect(fetchText(url, 99)).toBe(fetchText(url, 3));
  });
});
