import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isBlocked, parseHost } from '../../../functions/receivers/blocked-hosts.ts';
import { checkReceiverUrl, getHost } from '../../../functions/receivers/receiver-url.ts';

describe('host that an operator enters', () => {
  it.each([
    ['Hooks.Example.COM', 'hooks.example.com'],
    ['hooks.example.com.', 'hooks.example.com'],
    ['bücher.example.com', 'xn--bcher-kva.example.com'],
    ['8.8.8.8', '8.8.8.8'],
    ['0x08080808', '8.8.8.8'],
    ['2606:4700:0:0::1', '2606:4700::1'],
    ['[2606:4700::1]', '2606:4700::1'],
    ['localhost', 'localhost'],
  ])('%s is normalized to %s', (text, host) => {
    expect(parseHost(text)).toBe(host);
  });

  it.each([
    'com',
    '',
    'a b.example.com',
    'https://example.com',
    'example.com/path',
    'example.com:8443',
    'a@example.com',
  ])('%j is rejected', (text) => {
    expect(parseHost(text)).toBeUndefined();
  });
});

describe('blocked host', () => {
  const label = fc.stringMatching(/^[a-z][a-z0-9]{0,8}$/);
  const name = fc
    .array(label, { minLength: 1, maxLength: 3 })
    .map((labels) => `${labels.join('.')}.example.com`);

  it('blocks all names below it, in any notation of the URL, and no other name', () => {
    fc.assert(
      fc.property(
        name,
        name,
        fc.array(label, { maxLength: 2 }),
        fc.boolean(),
        (host, other, below, upper) => {
          const blocked = new Set([host]);
          const policy = { loopback: 'refuse' as const, blocks: (one: string) => isBlocked(one, blocked) };
          const text = [...below, host].join('.');
          const url = `https://${upper ? text.toUpperCase() : text}:8443/path`;
          expect(checkReceiverUrl(url, policy)).toEqual({
            ok: false,
            code: 'url_blocked',
            problem: 'url has a host that the operator of this service has blocked',
          });
          const isSame = other === host || other.endsWith(`.${host}`);
          expect(checkReceiverUrl(`https://${other}/`, policy).ok).toBe(!isSame);
          expect(checkReceiverUrl(`https://x${host}/`, policy).ok).toBe(true);
        },
      ),
    );
  });

  it('blocks an address in any notation, and no other address with the same end', () => {
    const blocked = new Set(['8.8.4.4', '2606:4700::1']);
    for (const url of ['https://8.8.4.4/', 'https://0x08080404/', 'https://[2606:4700:0::1]/'])
      expect(isBlocked(getHost(new URL(url)), blocked)).toBe(true);
    expect(isBlocked('18.8.4.4', blocked)).toBe(false);
  });
});
