import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  checkReceiverUrl,
  isLoopbackAddress,
  isPublicAddress,
} from '../../../../functions/receivers/receiver-url.ts';
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

const refuse = { loopback: 'refuse' } as const;

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
