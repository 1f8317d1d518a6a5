import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  COOKIES,
  clearCookie,
  computeChallenge,
  fromCookie,
  isAnswerTo,
  newAttempt,
  setCookie,
  toCookie,
} from '../../../functions/sign-in/browser.ts';

const ATTRIBUTES = 'Path=/; Secure; HttpOnly; SameSite=Strict';

describe('a cookie', () => {
  it.each(Object.values(COOKIES))(
    '%s is for this host alone, over TLS, for no script and no other site',
    (name) => {
      expect(name).toMatch(/^__Host-/);
      expect(setCookie(name, 'x', 60)).toBe(`${name}=x; Max-Age=60; ${ATTRIBUTES}`);
      expect(clearCookie(name)).toBe(`${name}=; Max-Age=0; ${ATTRIBUTES}`);
    },
  );

  it('ends in whole seconds, at once when it has ended', () => {
    expect(setCookie(COOKIES.session, 'x', 59.9)).toContain('Max-Age=59;');
    expect(setCookie(COOKIES.session, 'x', -5)).toContain('Max-Age=0;');
  });

  it('is none when browsers would drop it without a word', () => {
    const most = 4096 - COOKIES.session.length;
    expect(setCookie(COOKIES.session, 'x'.repeat(most), 60)).toBeDefined();
    expect(setCookie(COOKIES.session, 'x'.repeat(most + 1), 60)).toBeUndefined();
  });

  it.each(['', 'a;b', 'a b', 'a,b', '"a"', 'a\\b', 'a\r\nSet-Cookie: b=c', 'ä', '\u0000'])(
    'is none with the value %j',
    (value) => {
      expect(setCookie(COOKIES.renewal, value, 60)).toBeUndefined();
    },
  );
});

describe('an attempt', () => {
  it('comes back as it was', () => {
    const attempt = newAttempt('/deliveries?status=exhausted');
    expect(fromCookie(toCookie(attempt))).toEqual(attempt);
    expect(setCookie(COOKIES.signIn, toCookie(attempt), 600)).toBeDefined();
  });

  it('is another one each time', () => {
    const [one, other] = [newAttempt('/'), newAttempt('/')];
    for (const part of ['state', 'nonce', 'verifier'] as const) expect(one[part]).not.toBe(other[part]);
    expect(new Set([one.state, one.nonce, one.verifier]).size).toBe(3);
  });

  // RFC 7636, appendix B.
  it('shows its verifier by a digest', () => {
    const verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
    const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';
    expect(computeChallenge({ ...newAttempt('/'), verifier })).toBe(challenge);
  });

  it('is answered by its own state alone', () => {
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

  it('is none that was not written here', () => {
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
