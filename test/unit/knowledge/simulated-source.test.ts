import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { computeDifference } from '../../../functions/knowledge/difference.ts';
import { simulateContent } from '../../../functions/knowledge/source-content.ts';

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
    ['503', 'the server answered 503'],
    ['404', 'the server answered 404'],
    ['204', 'the server answered 204'],
    ['302', 'the server answered 302'],
    ['timeout', 'timed out after 20 s'],
    ['200@21s', 'timed out after 20 s'],
    ['refused', 'connection refused'],
    ['dns', 'host name does not resolve'],
  ])('fails at %s: %s', (step, error) => {
    expect(simulateContent(at(step), 1)).toEqual({ kind: 'failed', error });
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
