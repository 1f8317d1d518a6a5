import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { returnPath } from '../../../../functions/api/sign-in/sign-in.ts';

const DASHBOARD = 'https://dashboard.example.com';

describe('path after the sign-in', () => {
  it.each([
    '/',
    '/deliveries?status=exhausted,skipped&from=2026-11-20T09:00:00Z#top',
    '/endpoints/whk_01/deliveries',
    '/a//b',
    '/search?next=https://evil.example/',
    '/%2F%2Fevil.example',
    '/@evil.example',
    '/:80',
    '/javascript:alert(1)',
  ])('accepts %s', (path) => {
    expect(returnPath(path)).toBe(path);
  });

  it('is normalized as a browser does it', () => {
    expect(returnPath('/a/../b/./c')).toBe('/b/c');
    expect(returnPath('/ä?q=ö')).toBe('/%C3%A4?q=%C3%B6');
  });

  it.each([
    '',
    'deliveries',
    '?x',
    '#x',
    '//evil.example',
    '///evil.example',
    '/\\evil.example',
    '\\\\evil.example',
    '/path\\..\\..\\evil',
    '/\t/evil.example',
    '/\n/evil.example',
    '/\r/evil.example',
    ' //evil.example',
    '\u0000//evil.example',
    '/ /evil.example',
    '/.//evil.example',
    '/..//evil.example',
    '/a/..//evil.example',
    '/%2e//evil.example',
    '/%2E%2E//evil.example',
    'https://evil.example',
    'https:/evil.example',
    'https:evil.example',
    'javascript:alert(1)',
    'data:text/html,x',
    '@evil.example',
    ':@evil.example',
    `/${'x'.repeat(1024)}`,
    // Longer than the limit when it is encoded as a browser does.
    `/${'ä'.repeat(400)}`,
  ])('rejects %j', (given) => {
    expect(returnPath(given)).toBeUndefined();
  });

  it("stays within the dashboard's origin, and is stable, for any input", () => {
    const parts = fc.constantFrom(
      '/',
      '\\',
      '.',
      '..',
      ':',
      '@',
      '?',
      '#',
      '%2e',
      '%2f',
      '%5c',
      '\t',
      '\n',
      ' ',
      'evil.example',
      'https:',
      'a',
    );
    const crafted = fc.array(parts, { maxLength: 12 }).map((list) => `/${list.join('')}`);
    fc.assert(
      fc.property(fc.oneof(crafted, fc.webPath(), fc.string(), fc.string({ unit: 'binary' })), (given) => {
        const path = returnPath(given);
        if (path === undefined) return;
        // As a link, as a part of a URL, and when it is read back from the cookie.
        expect(new URL(path, `${DASHBOARD}/signed-in`).origin).toBe(DASHBOARD);
        expect(new URL(`${DASHBOARD}${path}`).origin).toBe(DASHBOARD);
        expect(new URL(path, `${DASHBOARD}/signed-in`).href).toBe(`${DASHBOARD}${path}`);
        expect(returnPath(path)).toBe(path);
      }),
      { numRuns: 2000 },
    );
  });
});
