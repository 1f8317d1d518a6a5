import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  checkReceiverUrl,
  isLoopbackAddress,
  isPublicAddress,
  isReceiverAddress,
  type ReceiverPolicy,
} from '../../../../functions/receivers/receiver-url.ts';
import { forbiddenHosts, permittedUrls } from './corpus.ts';
import { forbiddenUrls } from './corpus-forbidden-urls.ts';
import {
  addressIn,
  FORBIDDEN_IPV4,
  FORBIDDEN_IPV6,
  formatIPv6,
  ipv4Notation,
  ipv6Notation,
  isIn,
  LOOPBACK_IPV4,
  toDotted,
} from './notations.ts';

const refuse: ReceiverPolicy = { loopback: 'refuse' };
const allow: ReceiverPolicy = { loopback: 'allow' };

function problemOf(text: string, policy = refuse): string | undefined {
  const check = checkReceiverUrl(text, policy);
  return check.ok ? undefined : check.problem;
}

describe('checkReceiverUrl', () => {
  it.each(forbiddenHosts)('refuses the host %j: %s', (host) => {
    expect(problemOf(`https://${host}/hook`)).toMatch(/^url /);
    expect(problemOf(`https://${host}:8443/hook`)).toMatch(/^url /);
  });

  it.each(forbiddenUrls)('refuses %j: %s', (url) => {
    expect(problemOf(url)).toMatch(/^url /);
    expect(problemOf(url, allow)).toMatch(/^url /);
  });

  it.each(permittedUrls)('permits %s: %s', (url) => {
    expect(checkReceiverUrl(url, refuse)).toEqual({ ok: true, url: new URL(url) });
  });

  it.each([
    ['https://example.com/👩\u200d💻', true],
    ['https://example.com/می\u200cخواهم?q=👩\u200d💻', true],
    ['https://exa\u200dmple.com/', false],
    ['https://example.com/a\u200bb', false],
    ['https://example.com/a\u202eb', false],
  ])('permits joiners of emoji and words in a path only: %j', (url, isPermitted) => {
    expect(problemOf(url) === undefined).toBe(isPermitted);
  });

  it('permits port 443 and every port from 1024 up, and no other', () => {
    const permits = (port: number) => problemOf(`https://example.com:${port}/hook`) === undefined;
    // All lower ports, and of the others the first, the last and a sample.
    const below = Array.from({ length: 1024 }, (_, port) => port);
    expect(below.filter(permits)).toEqual([443]);
    const above = Array.from({ length: 1000 }, (_, index) => 1024 + index * 64);
    expect([...above, 1025, 65_534, 65_535].filter((port) => !permits(port))).toEqual([]);
    expect([65_536, 65_537, 99_999].filter(permits)).toEqual([]);
  });

  it.each([
    ['http://example.com/', 'url must use https'],
    ['https://user:secret@example.com/', 'url must not contain credentials'],
    ['https://example.com/#top', 'url must not contain a fragment'],
    ['https://example.com/ hook', 'url must not contain whitespace, control or invisible characters'],
    ['https://example.com\\hook', 'url must not contain backslashes'],
    ['https://example.com:22/', 'url port must be 443 or at least 1024'],
    ['https://10.0.0.1/', 'url must have a public host name or public address'],
    ['https://receiver.local/', 'url must have a public host name or public address'],
    ['https://[::1/', 'url must be a valid absolute URL'],
    [`https://example.com/${'a'.repeat(2029)}`, 'url must be at most 2048 characters'],
  ])('answers for %s: %s', (url, problem) => {
    expect(problemOf(url)).toBe(problem);
  });

  it('refuses an IPv6 address with its reason where the service has no route to it', () => {
    const withoutIPv6: ReceiverPolicy = { loopback: 'refuse', ipv6: 'refuse' };
    expect(problemOf('https://[2606:4700::1]/', withoutIPv6)).toBe(
      'url must not have an IPv6 address: this service sends over IPv4 only',
    );
    expect(problemOf('https://[2606:4700::1]/', { ...withoutIPv6, ipv6: 'allow' })).toBeUndefined();
    expect(problemOf('https://93.184.215.14/', withoutIPv6)).toBeUndefined();
  });

  it('never throws, and never repeats a refused URL', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: 'binary' }).map((rest) => `https://${rest}`),
      fc.webUrl({ validSchemes: ['https', 'http'], withFragments: true }),
    );
    fc.assert(
      fc.property(text, (url) => {
        const problem = problemOf(url);
        if (problem !== undefined && url.length > 8) expect(problem).not.toContain(url);
      }),
    );
  });

  it('permits only URLs that it permits again after normalization', () => {
    fc.assert(
      fc.property(fc.webUrl({ validSchemes: ['https'], withQueryParameters: true }), (url) => {
        const check = checkReceiverUrl(url, refuse);
        if (check.ok) expect(checkReceiverUrl(check.url.href, refuse)).toEqual(check);
      }),
    );
  });
});

describe('the policy of the local run', () => {
  it.each(['localhost', 'LOCALHOST', '127.0.0.1', '127.1', '127.8.9.10', '[::1]'])(
    'permits %s as well',
    (host) => {
      expect(problemOf(`https://${host}:8443/hook`, allow)).toBeUndefined();
      expect(problemOf(`https://${host}/hook`, allow)).toBeUndefined();
      expect(problemOf(`https://${host}:80/hook`, allow)).toMatch(/port/);
      expect(problemOf(`http://${host}:8443/hook`, allow)).toMatch(/https/);
    },
  );

  const loopback = /^(localhost|127\.[\d.]*\d|::1)$/;
  const others = forbiddenHosts.filter(([host]) => {
    const parsed = URL.parse(`https://${host}/`)?.hostname.replace(/[[\]]/g, '') ?? '';
    return !loopback.test(parsed);
  });

  it.each(others)('permits nothing else, such as %j: %s', (host) => {
    expect(problemOf(`https://${host}:8443/hook`, allow)).toMatch(/^url /);
  });

  it('gives the same result for addresses as for URLs', () => {
    expect(isReceiverAddress('127.0.0.1', refuse)).toBe(false);
    expect(isReceiverAddress('127.0.0.1', allow)).toBe(true);
    expect(isReceiverAddress('::1', allow)).toBe(true);
    expect(isReceiverAddress('8.8.8.8', refuse)).toBe(true);
    expect(isReceiverAddress('10.0.0.1', allow)).toBe(false);
    expect(isReceiverAddress('::ffff:127.0.0.1', allow)).toBe(false);
  });
});

const forbiddenIPv4 = fc.constantFrom(...FORBIDDEN_IPV4).chain(addressIn);
const forbiddenIPv6 = fc.constantFrom(...FORBIDDEN_IPV6).chain(addressIn);

const publicIPv4 = fc.bigInt(0n, 2n ** 32n - 1n).filter((value) => !FORBIDDEN_IPV4.some(isIn(value, 32)));
const publicIPv6 = addressIn('2000::/3').filter((value) => !FORBIDDEN_IPV6.some(isIn(value, 128)));

describe('isPublicAddress', () => {
  it('refuses every IPv4 address of the special-purpose networks', () => {
    fc.assert(
      fc.property(forbiddenIPv4, (value) => {
        expect(isPublicAddress(toDotted(value))).toBe(false);
      }),
    );
  });

  it('refuses every IPv6 address of the special-purpose networks, in any notation', () => {
    fc.assert(
      fc.property(forbiddenIPv6.chain(ipv6Notation), (text) => {
        expect(isPublicAddress(text)).toBe(false);
      }),
    );
  });

  it('accepts every other IPv4 address', () => {
    fc.assert(
      fc.property(publicIPv4, (value) => {
        expect(isPublicAddress(toDotted(value))).toBe(true);
      }),
    );
  });

  it('accepts every other IPv6 address of the global unicast range, in any notation', () => {
    fc.assert(
      fc.property(publicIPv6.chain(ipv6Notation), (text) => {
        expect(isPublicAddress(text)).toBe(true);
      }),
    );
  });

  it.each([
    '',
    'example.com',
    'localhost',
    '8.8.8',
    '134744072',
    '0x8080808',
    '010.8.8.8',
    '8.8.8.8 ',
    ' 8.8.8.8',
    '8.8.8.8.',
    '[2606:4700::1]',
    '2606:4700::1%eth0',
    '2606:4700::1/64',
    '1:2:3',
  ])('refuses %j, which is no address in canonical form', (text) => {
    expect(isPublicAddress(text)).toBe(false);
  });

  it.each(['2606:4700::5efe:808:808', '2606:4700::200:5efe:808:808'])(
    'refuses %s, which embeds an IPv4 address (ISATAP)',
    (text) => {
      expect(isPublicAddress(text)).toBe(false);
    },
  );
});

describe('the receiver rule on addresses', () => {
  it('refuses every IPv4 address of the special-purpose networks, in any notation', () => {
    fc.assert(
      fc.property(forbiddenIPv4.chain(ipv4Notation), (host) => {
        expect(checkReceiverUrl(`https://${host}/`, refuse)).toMatchObject({ ok: false });
      }),
    );
  });

  it('refuses every IPv6 address of the special-purpose networks, in any notation', () => {
    fc.assert(
      fc.property(forbiddenIPv6.chain(ipv6Notation), (text) => {
        expect(checkReceiverUrl(`https://[${text}]/`, refuse)).toMatchObject({ ok: false });
      }),
    );
  });

  it('accepts every public IPv4 address, in any notation', () => {
    fc.assert(
      fc.property(
        publicIPv4.chain((value) => fc.tuple(fc.constant(toDotted(value)), ipv4Notation(value))),
        ([dotted, host]) => {
          const check = checkReceiverUrl(`https://${host}/`, refuse);
          expect(check.ok && check.url.hostname).toBe(dotted);
        },
      ),
    );
  });
});

describe('isLoopbackAddress', () => {
  it('accepts 127.0.0.0/8 and ::1', () => {
    fc.assert(
      fc.property(addressIn(LOOPBACK_IPV4), (value) => {
        expect(isLoopbackAddress(toDotted(value))).toBe(true);
      }),
    );
    expect(isLoopbackAddress('::1')).toBe(true);
    expect(isLoopbackAddress('0:0:0:0:0:0:0:1')).toBe(true);
  });

  it('refuses every public address', () => {
    fc.assert(
      fc.property(fc.oneof(publicIPv4.map(toDotted), publicIPv6.map(formatIPv6)), (text) => {
        expect(isLoopbackAddress(text)).toBe(false);
      }),
    );
  });

  it.each([
    '0.0.0.0',
    '::',
    '::ffff:127.0.0.1',
    '::127.0.0.1',
    '64:ff9b::7f00:1',
    '10.0.0.1',
    '::1%lo',
    'localhost',
    '127.1',
    '',
  ])('refuses %j', (text) => {
    expect(isLoopbackAddress(text)).toBe(false);
  });
});
