import fc from 'fast-check';

export const LOOPBACK_IPV4 = '127.0.0.0/8';

/**
 * Transcribed from the IANA IPv4 special-purpose address registry, the multicast range, and Azure's metadata
 * service.
 */
export const FORBIDDEN_IPV4: readonly string[] = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  LOOPBACK_IPV4,
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
];

/** Transcribed from the IANA IPv6 special-purpose address registry, and everything outside global unicast. */
export const FORBIDDEN_IPV6: readonly string[] = [
  '::/96',
  '::ffff:0:0/96',
  '::ffff:0:0:0/96',
  '64:ff9b::/96',
  '64:ff9b:1::/48',
  '100::/64',
  '100:0:0:1::/64',
  '::/3',
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '2620:4f:8000::/48',
  '3fff::/20',
  '4000::/2',
  '5f00::/16',
  '8000::/1',
  'fc00::/7',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
];

/** Any address of a network, as a number; the network's first and last are more frequent. */
export function addressIn(cidr: string): fc.Arbitrary<bigint> {
  const { first, last } = bounds(cidr);
  return fc.oneof(
    { arbitrary: fc.bigInt(first, last), weight: 4 },
    { arbitrary: fc.constantFrom(first, last), weight: 1 },
  );
}

/** Whether an address, as a number, belongs to a network of its family. */
export function isIn(value: bigint, bits: 32 | 128): (cidr: string) => boolean {
  return (cidr) => {
    const { first, last, width } = bounds(cidr);
    return width === bits && first <= value && value <= last;
  };
}

export function toDotted(value: bigint): string {
  return octets(value).join('.');
}

/** A host in one of the notations that the URL parser accepts for this IPv4 address. */
export function ipv4Notation(value: bigint): fc.Arbitrary<string> {
  const [a = 0, b = 0, c = 0, d = 0] = octets(value);
  const number = fc.constantFrom(decimal, hexadecimal, upperHexadecimal, octal, paddedOctal);
  const parts = fc.constantFrom(
    [a, b, c, d],
    [a, b, c * 256 + d],
    [a, (b * 256 + c) * 256 + d],
    [Number(value)],
  );
  const dot = fc.constantFrom('.', '。', '．', '｡');
  const spelling = fc.constantFrom(plain, fullWidth, percentEncoded);
  const end = fc.constantFrom('', '.');

  return fc
    .tuple(parts, fc.array(number, { minLength: 4, maxLength: 4 }), dot, spelling, end)
    .map((choice) => {
      const [numbers, formats, separator, spell, trailing] = choice;
      const written = numbers.map((part, index) => spell((formats[index] ?? decimal)(part)));
      return written.join(separator) + trailing;
    });
}

/** One of the notations of an IPv6 address: compressed or not, padded, upper case, dotted at the end. */
export function ipv6Notation(value: bigint): fc.Arbitrary<string> {
  const groups = groupsOf(value);
  const hex = groups.map((group) => group.toString(16));
  const padded = hex.map((group) => group.padStart(4, '0'));
  const dotted = [...hex.slice(0, 6), toDotted(value & 0xffff_ffffn)];

  return fc
    .tuple(
      fc.constantFrom(hex, padded, dotted).map((parts) => parts.join(':')),
      fc.boolean(),
      fc.boolean(),
    )
    .map(([text, compress, upper]) => {
      const short = compress ? compressed(text) : text;
      return upper ? short.toUpperCase() : short;
    });
}

export function formatIPv6(value: bigint): string {
  return groupsOf(value)
    .map((group) => group.toString(16))
    .join(':');
}

function bounds(cidr: string): { first: bigint; last: bigint; width: 32 | 128 } {
  const [network = '', prefix = ''] = cidr.split('/');
  const width = network.includes(':') ? 128 : 32;
  const first = width === 128 ? parseIPv6(network) : parseDotted(network);
  return { first, last: first + 2n ** BigInt(width - Number(prefix)) - 1n, width };
}

function parseDotted(text: string): bigint {
  return text.split('.').reduce((value, octet) => value * 256n + BigInt(octet), 0n);
}

function parseIPv6(text: string): bigint {
  const [head = '', tail = ''] = text.split('::');
  const before = head.split(':').filter((group) => group !== '');
  const after = tail.split(':').filter((group) => group !== '');
  const zeros = new Array<string>(8 - before.length - after.length).fill('0');
  return [...before, ...zeros, ...after].reduce((value, group) => value * 65536n + BigInt(`0x${group}`), 0n);
}

function octets(value: bigint): number[] {
  return [24n, 16n, 8n, 0n].map((shift) => Number((value >> shift) & 0xffn));
}

function groupsOf(value: bigint): number[] {
  return [112n, 96n, 80n, 64n, 48n, 32n, 16n, 0n].map((shift) => Number((value >> shift) & 0xffffn));
}

/** The first run of zero groups, wherever it is, becomes `::`. */
function compressed(text: string): string {
  return text.replace(/(?:^|:)0{1,4}(?::0{1,4})+(?=:|$)(?::|$)/, '::');
}

const decimal = (part: number): string => String(part);
const hexadecimal = (part: number): string => `0x${part.toString(16)}`;
const upperHexadecimal = (part: number): string => `0X${part.toString(16).toUpperCase()}`;
const octal = (part: number): string => `0${part.toString(8)}`;
const paddedOctal = (part: number): string => `000${part.toString(8)}`;

const plain = (text: string): string => text;
const fullWidth = (text: string): string =>
  text.replace(/[0-9a-zA-Z]/g, (char) => String.fromCharCode(char.charCodeAt(0) + 0xfee0));
const percentEncoded = (text: string): string =>
  text.replace(/[0-9]/g, (char) => `%${char.charCodeAt(0).toString(16)}`);
