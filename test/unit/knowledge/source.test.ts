import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { scheduleNextCheck, toSourceContent } from '../../../functions/knowledge/check-source.ts';
import { toSourceView } from '../../../functions/knowledge/sources.ts';
import { aSource, NOW } from '../../builders.ts';

const content = toSourceContent(2, { text: 'one two' });

describe('status of a source', () => {
  it.each([
    ['pending', {}],
    ['ok', { content }],
    ['failing', { lastError: 'timed out after 20 s' }],
    ['failing', { content, lastError: 'timed out after 20 s' }],
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
    expect(toSourceView(aSource({ content, ...changes })).difference).toBe(difference);
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
