import { describe, expect, it, vi } from 'vitest';
import { blockedHosts } from '../../../functions/receivers/blocked-hosts.ts';

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
