import dns from 'node:dns';
import type { RequestListener } from 'node:http';
import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { isTransient } from '../../../functions/http/lifecycle.ts';
import { issuerAt } from '../../../functions/tenancy/sessions.ts';
import { later, NOW, seconds } from '../../builders.ts';
import {
  aKey,
  anIssuer,
  aToken,
  DISCOVERY,
  documentsOf,
  type Issuer,
  KEYS,
  verifierOf,
  wrongly,
} from './issuer-fixture.ts';

const [key, newer] = await Promise.all([aKey('ES256', 'first'), aKey('ES256', 'second')]);
/** The lifetime of a token that outlives every test. */
const lasting = (issuer: Issuer, by = key) => aToken(issuer, by, { claims: { exp: 9_999_999_999 } });
const pass = (count: number) => vi.setSystemTime(later(new Date(), seconds(count)));

const REST = 5;
const COOLDOWN = 30;
const FRESH = 600;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: NOW });
});
afterEach(() => {
  vi.useRealTimers();
});

describe('the keys of an issuer', () => {
  it('are loaded for the first token, then cached', async () => {
    const issuer = await anIssuer(key);
    const verify = verifierOf(issuer);
    expect(issuer.requests).toEqual([]);
    const token = await lasting(issuer);
    for (let times = 0; times < 3; times++) expect(await verify(token)).toMatchObject({ role: 'admin' });
    expect(issuer.requests).toEqual([DISCOVERY, KEYS]);
  });

  it('are loaded once for concurrent tokens', async () => {
    const issuer = await anIssuer(key);
    const verify = verifierOf(issuer);
    const token = await lasting(issuer);
    const sessions = await Promise.all(Array.from({ length: 50 }, () => verify(token)));
    expect(sessions.filter((session) => session === undefined)).toEqual([]);
    expect(issuer.requests).toEqual([DISCOVERY, KEYS]);
  });

  it('are not loaded for a token that the issuer cannot have signed', async () => {
    const issuer = await anIssuer(key);
    const verify = verifierOf(issuer);
    const secret = { ...key, alg: 'HS256', privateKey: Buffer.alloc(32) };
    for (const token of ['', 'x', 'a.b.c', 'x'.repeat(9000), await lasting(issuer, secret)])
      expect(await verify(token)).toBeUndefined();
    expect(issuer.requests).toEqual([]);
  });

  it('include a new key at its first use, beside the old ones', async () => {
    const issuer = await anIssuer(key);
    const verify = verifierOf(issuer);
    await verify(await lasting(issuer));
    issuer.keys = [key.jwk, newer.jwk];
    pass(COOLDOWN);
    expect(await verify(await lasting(issuer, newer))).toBeDefined();
    expect(await verify(await lasting(issuer))).toBeDefined();
    expect(issuer.requests).toEqual([DISCOVERY, KEYS, KEYS]);
  });

  it('are reloaded for unknown keys at most every half minute', async () => {
    const issuer = await anIssuer(key);
    const verify = verifierOf(issuer);
    for (let times = 0; times < 4; times++) {
      for (let tokens = 0; tokens < 20; tokens++) {
        const token = await aToken(issuer, newer, { header: { kid: `made-up-${tokens}` } });
        expect(await verify(token)).toBeUndefined();
      }
      pass(COOLDOWN - 1);
    }
    // The rounds are at 0, 29, 58 and 87 seconds. Only the third is late enough after the previous load.
    expect(issuer.requests).toEqual([DISCOVERY, KEYS, KEYS]);
    expect(await verify(await lasting(issuer))).toBeDefined();
  });

  it('drop a key within ten minutes after the issuer withdraws it', async () => {
    const issuer = await anIssuer(key, newer);
    const verify = verifierOf(issuer);
    const token = await lasting(issuer);
    expect(await verify(token)).toBeDefined();
    issuer.keys = [newer.jwk];
    pass(FRESH);
    expect(await verify(token)).toBeUndefined();
    expect(await verify(await lasting(issuer, newer))).toBeDefined();
  });

  it('are found below an issuer with a path, with and without a trailing slash', async () => {
    for (const path of ['/pool', '/pool/']) {
      const issuer = await anIssuer(key);
      const keys = `${issuer.url}${KEYS}`;
      const url = `${issuer.url}${path}`;
      issuer.fault = {
        path: `/pool${DISCOVERY}`,
        answer: (_, response) => response.end(JSON.stringify({ issuer: url, jwks_uri: keys })),
      };
      const token = await aToken({ ...issuer, url }, key);
      expect(await verifierOf({ url })(token)).toMatchObject({ role: 'admin' });
    }
  });
});

const faults: [string, RequestListener][] = [
  ['answers 500', wrongly.answering(500)],
  ['answers 404', wrongly.answering(404, '{}')],
  ['answers with a page', wrongly.answering(200, '<html>')],
  ['answers with nothing', wrongly.answering(200)],
  ['answers with null', wrongly.answering(200, 'null')],
  ['answers with another document', wrongly.answering(200, '{"keys":"none"}')],
  ['hangs up', wrongly.hangingUp],
];

/** The error that a call throws. */
const failureOf = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => undefined,
    (error: unknown) => error,
  );

describe.each([DISCOVERY, KEYS])('an issuer that at %s', (path) => {
  it.each(faults)('%s is down: none of its tokens can be verified until it is back', async (_, answer) => {
    const issuer = await anIssuer(key);
    const verify = verifierOf(issuer);
    const token = await lasting(issuer);
    issuer.fault = { path, answer };

    const failure = await failureOf(verify(token));
    expect(isTransient(failure)).toBe(true);
    expect(inspect(failure, { depth: 9 })).not.toContain(token.slice(-20));

    issuer.fault = undefined;
    pass(REST);
    expect(await verify(token)).toMatchObject({ role: 'admin' });
  });

  it('answers correctly with an error status is down', async () => {
    const issuer = await anIssuer(key);
    issuer.fault = { path, answer: wrongly.answering(500, documentsOf(issuer)[path]) };
    expect(isTransient(await failureOf(verifierOf(issuer)(await lasting(issuer))))).toBe(true);
  });

  it('redirects is down, and the redirect is not followed', async () => {
    const issuer = await anIssuer(key);
    issuer.fault = { path, answer: wrongly.answering(302, '', { location: `${path}?moved` }) };
    expect(isTransient(await failureOf(verifierOf(issuer)(await lasting(issuer))))).toBe(true);
    expect(issuer.requests).not.toContain(`${path}?moved`);
  });

  it.each<[string, RequestListener]>([
    ['does not answer', wrongly.never],
    ['does not end its answer', (_, response) => void response.write('{')],
  ])('%s is down after the timeout', async (_, answer) => {
    const issuer = await anIssuer(key);
    issuer.fault = { path, answer };
    expect(isTransient(await failureOf(verifierOf(issuer, {}, 50)(await lasting(issuer))))).toBe(true);
  });

  it('is down gets no requests for a while, however many tokens come', async () => {
    const issuer = await anIssuer(key);
    const verify = verifierOf(issuer);
    const token = await lasting(issuer);
    issuer.fault = { path, answer: wrongly.answering(503) };
    await failureOf(verify(token));
    const asked = issuer.requests.length;
    for (let times = 0; times < 20; times++) expect(isTransient(await failureOf(verify(token)))).toBe(true);
    expect(issuer.requests).toHaveLength(asked);
    pass(REST);
    await failureOf(verify(token));
    expect(issuer.requests).toHaveLength(asked + 2);
  });

  it.each([
    ['hangs up', wrongly.hangingUp],
    ['fails', wrongly.answering(503)],
  ])('%s once is requested again', async (_, answer) => {
    const issuer = await anIssuer(key);
    issuer.fault = {
      path,
      answer: (request, response) => {
        issuer.fault = undefined;
        answer(request, response);
      },
    };
    expect(await verifierOf(issuer)(await lasting(issuer))).toMatchObject({ role: 'admin' });
  });
});

describe('an issuer that is down', () => {
  it('does not end sessions whose keys are cached, while these are fresh', async () => {
    const issuer = await anIssuer(key);
    const verify = verifierOf(issuer);
    const token = await lasting(issuer);
    await verify(token);
    issuer.fault = { answer: wrongly.hangingUp };
    pass(FRESH - 1);
    expect(isTransient(await failureOf(verify(await lasting(issuer, newer))))).toBe(true);
    expect(await verify(token)).toBeDefined();
    pass(1);
    expect(isTransient(await failureOf(verify(token)))).toBe(true);
  });
});

describe('a discovery document', () => {
  it.each<[string, (issuer: Issuer) => Record<string, unknown>]>([
    ['of another issuer', () => ({ issuer: 'https://issuer.example.com' })],
    ['of an issuer with the same beginning', ({ url }) => ({ issuer: `${url}/` })],
    ['of no issuer', () => ({ issuer: undefined })],
    ['without keys', () => ({ jwks_uri: undefined })],
    ['whose keys are at no URL', () => ({ jwks_uri: '/keys' })],
    // An address of this machine, which a request could reach, but not a known loopback spelling.
    [
      'whose keys could be altered in transit',
      ({ url }) => ({ jwks_uri: `${url.replace('127.0.0.1', '0.0.0.0')}${KEYS}` }),
    ],
    ['whose keys are in a file', () => ({ jwks_uri: 'file:///keys' })],
  ])('%s is rejected', async (_, changes) => {
    const issuer = await anIssuer(key);
    issuer.discovery = changes(issuer);
    const failure = await failureOf(verifierOf(issuer)(await lasting(issuer)));
    expect(failure).toMatchObject({ name: 'IssuerUnavailable' });
    expect([...new Set(issuer.requests)]).toEqual([DISCOVERY]);
  });
});

describe('the URL of an issuer', () => {
  it.each([
    'http://issuer.example.com',
    'http://10.0.0.1',
    'http://localhost.example.com',
    'ftp://localhost',
  ])('is refused when its answers could be altered in transit: %s', (issuer) => {
    expect(() => issuerAt(issuer)).toThrow('https');
  });

  it.each([
    'https://issuer.example.com/pool',
    'http://localhost:3000',
    'http://127.0.0.1',
    'http://[::1]:80',
  ])('is accepted: %s', (issuer) => {
    expect(() => issuerAt(issuer)).not.toThrow();
  });
});

describe('a request to the issuer', () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  it('has a connection of its own, so that no frozen process reuses a dead one', async () => {
    const issuer = await anIssuer(key);
    const sockets = new Set<unknown>();
    let hasAsked = true;
    issuer.fault = {
      answer: ({ socket, headers }, response) => {
        hasAsked &&= headers.connection === 'close';
        sockets.add(socket);
        response.writeHead(200).end('{}');
      },
    };
    const at = issuerAt(issuer.url);
    for (let times = 0; times < 3; times++) await at.post(`${issuer.url}/token`, { code: '1' });
    expect(hasAsked).toBe(true);
    expect(sockets.size).toBe(3);
  });

  it.each(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'ENETUNREACH'])(
    'is repeated as a POST after %s, when nothing of it was sent',
    async (code) => {
      const issuer = await anIssuer(key);
      issuer.further['/token'] = wrongly.answering(200, '{}');
      const lookup = vi.spyOn(dns, 'lookup');
      const failure = Object.assign(new Error(code), { code });
      lookup.mockImplementationOnce((...args: unknown[]) => (args[2] as (error: Error) => void)(failure));
      const { host } = new URL(issuer.url);
      const url = `http://${host.replace('127.0.0.1', 'localhost')}`;
      expect(await issuerAt(url).post(`${url}/token`, { code: '1' })).toMatchObject({ status: 200 });
      expect(lookup).toHaveBeenCalledTimes(2);
    },
  );

  it.each<[string, RequestListener]>([
    ['hangs up', wrongly.hangingUp],
    ['hangs up in its answer', (_, response) => response.write('{', () => response.destroy())],
    ['does not answer', wrongly.never],
    ['redirects', wrongly.answering(302, '', { location: '/elsewhere' })],
  ])('is not repeated as a POST when the issuer has it and %s', async (_, answer) => {
    const issuer = await anIssuer(key);
    issuer.further['/token'] = answer;
    const posted = issuerAt(issuer.url, 300).post(`${issuer.url}/token`, { code: '1' });
    await expect(posted).rejects.toThrow('gave no valid response');
    expect(issuer.requests).toEqual(['/token']);
  });
});
