import type { Records } from './name-server.ts';

/** An answer with each of these addresses. */
const listAddresses = (family: 'A' | 'AAAA', addresses: string): [what: string, records: Records][] =>
  addresses
    .trim()
    .split(/[ \n]+/)
    .map((address) => [address, { [family]: [address] }]);

/** A name server's answer for a name that no delivery may go to, and what it leads to. */
export const forbiddenAnswers: readonly (readonly [why: string, records: Records])[] = [
  // One address.
  ...listAddresses(
    'A',
    `
    127.0.0.1 127.53.0.1 0.0.0.0 0.1.2.3 10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1 100.64.0.1
    169.254.169.254 100.100.100.200 192.0.0.192 168.63.129.16 169.254.170.2 192.0.0.170 192.0.2.1
    198.51.100.1 203.0.113.1 198.18.0.1 192.88.99.1 224.0.0.1 240.0.0.1 255.255.255.255
  `,
  ),
  ...listAddresses(
    'AAAA',
    `
    ::1 :: ::ffff:127.0.0.1 ::ffff:169.254.169.254 ::ffff:8.8.8.8 ::127.0.0.1 ::ffff:0:127.0.0.1
    64:ff9b::127.0.0.1 64:ff9b::a9fe:a9fe 64:ff9b:1::10.0.0.1 2002:7f00:1::1 2002:a9fe:a9fe::1
    2001:0:4136:e378:8000:63bf:80ff:fffe 2606:4700::5efe:10.0.0.1 fd00::1 fd00:ec2::254 fe80::a9fe:a9fe
    fec0::1 ff02::1 100::1 2001:db8::1 3fff::1 5f00::1 4000::1 fe80::1 fc00::1 fd20:ce::254 ::ffff:a00:1
  `,
  ),
  // One among several.
  ['private after a public one', { A: ['8.8.8.8', '10.0.0.1'] }],
  ['private before a public one', { A: ['10.0.0.1', '8.8.8.8'] }],
  ['private between public ones', { A: ['8.8.8.8', '10.0.0.1', '1.1.1.1'] }],
  ['private beside public IPv6', { A: ['10.0.0.1'], AAAA: ['2606:4700::1'] }],
  ['public, and unique local in IPv6', { A: ['8.8.8.8'], AAAA: ['fd00::1'] }],
  ['public, and loopback in IPv6', { A: ['8.8.8.8'], AAAA: ['::1'] }],
  ['public, and mapped', { A: ['8.8.8.8'], AAAA: ['::ffff:169.254.169.254'] }],
  ['public in both families, and mapped', { A: ['8.8.8.8'], AAAA: ['2606:4700::1', '::ffff:10.0.0.1'] }],
  ['the metadata service twice', { A: ['169.254.169.254', '169.254.169.254'] }],
  ['public twice, and the metadata service', { A: ['8.8.8.8', '8.8.8.8', '169.254.169.254'] }],
  ['beyond the addresses that would be tried', { A: [...publicAddresses(12), '127.0.0.1'] }],
  ['the last of a thousand', { A: [...publicAddresses(999), '10.0.0.1'] }],
  ['the first of a thousand', { A: ['10.0.0.1', ...publicAddresses(999)] }],
  // Behind other names.
  ['loopback behind a CNAME', { A: ['inside.example.net.', '127.0.0.1'] }],
  ['private behind a chain', { A: ['a.example.net.', 'b.example.net.', 'c.example.org.', '10.0.0.1'] }],
  ['private behind a name of the inside', { A: ['db.corp.internal.', '10.1.2.3'] }],
  ['loopback behind localhost', { A: ['localhost.', '127.0.0.1'] }],
  ['unique local behind a CNAME', { AAAA: ['inside.example.net.', 'fd00::1'] }],
  ['one forbidden of several behind a CNAME', { A: ['lb.example.net.', '8.8.8.8', '192.168.0.1'] }],
  ['private although IPv6 does not exist', { A: ['10.0.0.1'], AAAA: 'no such name' }],
  ['private although IPv6 fails', { A: ['10.0.0.1'], AAAA: 'server failure' }],
  ['private without an answer for IPv6', { A: ['10.0.0.1'], AAAA: 'silence' }],
  ['unique local although IPv4 fails', { A: 'server failure', AAAA: ['fd00::1'] }],
];

/** A name server's answer for a name that deliveries may go to, and the address that they try first. */
export const publicAnswers: readonly (readonly [what: string, records: Records, to: string])[] = [
  ['one address', { A: ['93.184.215.14'] }, '93.184.215.14'],
  ['one address in IPv6', { AAAA: ['2606:2800:21f::1'] }, '2606:2800:21f::1'],
  ['both families', { A: ['93.184.215.14'], AAAA: ['2606:2800:21f::1'] }, '93.184.215.14'],
  ['several addresses', { A: ['8.8.8.8', '8.8.4.4', '1.1.1.1'] }, '8.8.8.8'],
  ['several addresses in IPv6', { AAAA: ['2606:4700::1', '2606:4700::2'] }, '2606:4700::1'],
  ['several of both', { A: ['8.8.8.8', '8.8.4.4'], AAAA: ['2606:4700::1', '2606:4700::2'] }, '8.8.8.8'],
  ['one address twice', { A: ['8.8.8.8', '8.8.8.8'] }, '8.8.8.8'],
  ['a thousand addresses', { A: publicAddresses(1000) }, '11.0.0.1'],
  ['the neighbour of private', { A: ['11.0.0.0'] }, '11.0.0.0'],
  ['the neighbour of loopback', { A: ['128.0.0.1'] }, '128.0.0.1'],
  ['the neighbour of link-local', { A: ['169.255.0.1'] }, '169.255.0.1'],
  ['the neighbour of carrier-grade NAT', { A: ['100.128.0.0'] }, '100.128.0.0'],
  ['the neighbour of 6to4', { AAAA: ['2003::1'] }, '2003::1'],
  ['an end like loopback', { AAAA: ['2a05:d018::7f00:1'] }, '2a05:d018::7f00:1'],
  ['an address behind a CNAME', { A: ['lb.example.net.', '8.8.8.8'] }, '8.8.8.8'],
  ['an address behind a chain', { A: ['a.example.net.', 'b.example.org.', '8.8.8.8'] }, '8.8.8.8'],
  ['an address behind a name of the inside', { A: ['lb.corp.internal.', '8.8.8.8'] }, '8.8.8.8'],
  ['no IPv6 but an error', { A: ['8.8.8.8'], AAAA: 'server failure' }, '8.8.8.8'],
  ['no IPv6 and no word', { A: ['8.8.8.8'], AAAA: 'silence' }, '8.8.8.8'],
  ['no IPv4 but an error', { A: 'server failure', AAAA: ['2606:4700::1'] }, '2606:4700::1'],
  ['no IPv4', { A: 'no such name', AAAA: ['2606:4700::1'] }, '2606:4700::1'],
  ['a private address of the family that was not asked for', { A: ['8.8.8.8', '::1'] }, '8.8.8.8'],
  ['broken data for IPv6', { A: ['8.8.8.8'], AAAA: ['\\# 7f'] }, '8.8.8.8'],
];

/** A name server's answer for a name without an address, and the failure reason of the attempt. */
export const emptyAnswers: readonly (readonly [what: string, records: Records | undefined, error: string])[] =
  [
    ['that it does not exist', undefined, 'host name does not resolve'],
    ['nothing', {}, 'host name does not resolve'],
    ['nothing behind a CNAME', { A: ['lb.example.net.'] }, 'host name does not resolve'],
    ['the other family only', { A: ['::1'], AAAA: ['127.0.0.1'] }, 'host name does not resolve'],
    ['that it failed', { A: 'server failure', AAAA: 'server failure' }, 'host name could not be resolved'],
    ['that one failed, and nothing of the other', { A: 'server failure' }, 'host name could not be resolved'],
    ['nothing, and that the other failed', { AAAA: 'server failure' }, 'host name could not be resolved'],
    ['an address too short', { A: ['\\# 7f0000'] }, 'host name could not be resolved'],
  ];

/** 11.0.0.1, 11.0.0.2, ... */
function publicAddresses(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `11.0.${(index + 1) >> 8}.${(index + 1) & 255}`);
}
