import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import {
  blockedHosts,
  checkReceiverUrl,
  getHost,
  isBlocked,
} from '../../../functions/receivers/receiver-url.ts';
import { parseHost } from '../../../lib/operate/hosts.ts';

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

const SECOND = 1000;

function given(lists: (string[] | Error)[]) {
  let ms = 0;
  const load = vi.fn(async () => {
    const list = lists.length > 1 ? lists.shift() : lists[0];
    if (list === undefined || list instanceof Error) throw list;
    return list.map((host) => ({ host }));
  });
  const hosts = blockedHosts(load, () => ms);
  const pass = (seconds: number) => {
    ms += seconds * SECOND;
  };
  return { hosts, load, pass };
}

const DOWN = new Error('the table does not answer');

describe('the list of blocked hosts', () => {
  it('is loaded once for concurrent callers, and again after 30 seconds', async () => {
    const { hosts, load, pass } = given([['a.example.com'], []]);
    await Promise.all(Array.from({ length: 20 }, () => hosts.refresh()));
    pass(29);
    await hosts.refresh();
    expect(load).toHaveBeenCalledTimes(1);
    expect([hosts.blocks('a.example.com'), hosts.blocks('b.example.com')]).toEqual([true, false]);
    pass(1);
    await hosts.refresh();
    expect(hosts.blocks('a.example.com')).toBe(false);
  });

  it('blocks every host until it has been loaded', async () => {
    const { hosts } = given([DOWN, []]);
    expect(hosts.blocks('a.example.com')).toBe(true);
    await expect(hosts.refresh()).rejects.toThrow(DOWN);
    expect(hosts.blocks('a.example.com')).toBe(true);
    await hosts.refresh();
    expect(hosts.blocks('a.example.com')).toBe(false);
  });

  it('stays in force when it cannot be reloaded, with a retry every five seconds', async () => {
    const { hosts, load, pass } = given([['a.example.com'], DOWN, DOWN, ['b.example.com']]);
    await hosts.refresh();
    pass(30);
    for (let times = 0; times < 10; times += 1) await hosts.refresh();
    expect(load).toHaveBeenCalledTimes(2);
    expect(hosts.blocks('a.example.com')).toBe(true);
    pass(5);
    await hosts.refresh();
    pass(5);
    await hosts.refresh();
    expect([hosts.blocks('a.example.com'), hosts.blocks('b.example.com')]).toEqual([false, true]);
  });
});
