import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  COOKIES,
  clearCookie,
  computeChallenge,
  fromCookie,
  isAnswerTo,
  newAttempt,
  returnPath,
  setCookie,
  toCookie,
} from '../../../../functions/api/sign-in/sign-in.ts';
import { casesOf } from '../../../support/cases.ts';

const ATTRIBUTES = 'Path=/; Secure; HttpOnly; SameSite=Strict';
const DASHBOARD = 'https://dashboard.example.com';

describe('sign-in cookie', () => {
  it.each(Object.values(COOKIES))(
    '%s is only for this host, over TLS, and hidden from scripts and other sites',
    (name) => {
      expect(name).toMatch(/^__Host-/);
      expect(setCookie(name, 'x', 60)).toBe(`${name}=x; Max-Age=60; ${ATTRIBUTES}`);
      expect(clearCookie(name)).toBe(`${name}=; Max-Age=0; ${ATTRIBUTES}`);
    },
  );

  it('expires after whole seconds, or at once when its time is over', () => {
    expect(setCookie(COOKIES.session, 'x', 59.9)).toContain('Max-Age=59;');
    expect(setCookie(COOKIES.session, 'x', -5)).toContain('Max-Age=0;');
  });

  it('is not set when browsers would ignore it', () => {
    const most = 4096 - COOKIES.session.length;
    expect(setCookie(COOKIES.session, 'x'.repeat(most), 60)).toBeDefined();
    expect(setCookie(COOKIES.session, 'x'.repeat(most + 1), 60)).toBeUndefined();
  });

  it.each(['', 'a;b', 'a b', 'a,b', '"a"', 'a\\b', 'a\r\nSet-Cookie: b=c', 'ä', '\u0000'])(
    'is not set with the value %j',
    (value) => {
      expect(setCookie(COOKIES.renewal, value, 60)).toBeUndefined();
    },
  );
});

describe('sign-in attempt', () => {
  it('is read back from its cookie', () => {
    const attempt = newAttempt('/deliveries?status=exhausted');
    expect(fromCookie(toCookie(attempt))).toEqual(attempt);
    expect(setCookie(COOKIES.signIn, toCookie(attempt), 600)).toBeDefined();
  });

  it('is unique', () => {
    const [first, second] = [newAttempt('/'), newAttempt('/')];
    for (const part of ['state', 'nonce', 'verifier'] as const) expect(first[part]).not.toBe(second[part]);
    expect(new Set([first.state, first.nonce, first.verifier]).size).toBe(3);
  });

  // RFC 7636, appendix B.
  it('derives its code challenge as the RFC does', () => {
    const verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
    const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';
    expect(computeChallenge({ ...newAttempt('/'), verifier })).toBe(challenge);
  });

  it('accepts only its own state', () => {
    const attempt = newAttempt('/');
    expect(isAnswerTo(attempt, attempt.state)).toBe(true);
    for (const state of [
      '',
      attempt.nonce,
      `${attempt.state}x`,
      attempt.state.slice(1),
      attempt.state.toUpperCase(),
    ])
      expect(isAnswerTo(attempt, state)).toBe(false);
  });

  it('is not read from any other cookie', () => {
    const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const attempt = newAttempt('/');
    for (const value of [
      undefined,
      '',
      'x',
      '{}',
      encoded(null),
      encoded([]),
      encoded({ ...attempt, state: '' }),
      encoded({ ...attempt, state: 'short' }),
      encoded({ ...attempt, nonce: undefined }),
      encoded({ ...attempt, verifier: 7 }),
      encoded({ ...attempt, returnTo: '//evil.example' }),
      encoded({ ...attempt, returnTo: 'https://evil.example' }),
      encoded({ ...attempt, returnTo: undefined }),
    ])
      expect(fromCookie(value)).toBeUndefined();
    fc.assert(fc.property(fc.string(), (value) => fromCookie(value) === undefined));
  });
});

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
      { numRuns: casesOf(500, 2000) },
    );
  });
});
