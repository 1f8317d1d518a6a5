import { describe, expect, it } from 'vitest';
import { nameServerResolver } from '../../../../functions/delivery/outbound/agent.ts';
import { nameServer } from './name-server.ts';

const NAME = 'receiver.example.com';
const IPV4 = '93.184.215.14';
const IPV6 = '2606:2800:21f:cb07:6820:80da:af6b:8b2c';

describe('the resolver', () => {
  it.each([
    ['both families', { A: [IPV4], AAAA: [IPV6] }, [IPV4, IPV6]],
    ['several addresses', { A: [IPV4, '8.8.8.8'] }, [IPV4, '8.8.8.8']],
    ['IPv4 only', { A: [IPV4] }, [IPV4]],
    ['IPv6 only', { AAAA: [IPV6] }, [IPV6]],
    ['IPv4 without an answer for IPv6', { A: [IPV4], AAAA: 'silence' as const }, [IPV4]],
  ])('returns %s', async (_what, records, addresses) => {
    const server = await nameServer({ [NAME]: records });
    expect(await nameServerResolver([server.address])(NAME)).toEqual(addresses);
    expect(server.queries.toSorted()).toEqual([`A ${NAME}`, `AAAA ${NAME}`]);
  });

  it('rejects a name that does not exist, or has no address', async () => {
    const server = await nameServer({ [NAME]: {} });
    const resolve = nameServerResolver([server.address]);
    await expect(resolve('nothing.example.com')).rejects.toMatchObject({ code: 'ENOTFOUND' });
    await expect(resolve(NAME)).rejects.toMatchObject({ code: 'ENODATA' });
  });

  it('returns the answer for one name, and for one family, although another one is malformed', async () => {
    const garbage = ['\\# 7f'];
    const server = await nameServer({
      [NAME]: { A: [IPV4], AAAA: garbage },
      'hostile.example.com': { A: garbage, AAAA: garbage },
    });
    const resolve = nameServerResolver([server.address]);
    const hostile = Promise.allSettled(Array.from({ length: 20 }, () => resolve('hostile.example.com')));

    expect(await resolve(NAME)).toEqual([IPV4]);
    for (const answer of await hostile) expect(answer).toMatchObject({ reason: { code: 'EBADRESP' } });
  });

  it.each([
    ['IPv4 fails and IPv6 has none', { A: 'server failure' as const }],
    ['IPv6 fails and IPv4 has none', { AAAA: 'server failure' as const }],
  ])('does not report a name as without addresses when %s', async (_what, records) => {
    const server = await nameServer({ [NAME]: records });
    await expect(nameServerResolver([server.address])(NAME)).rejects.toMatchObject({ code: 'ESERVFAIL' });
  });

  it('repeats a query over TCP when the answer is too long for a datagram', async () => {
    const addresses = Array.from({ length: 1000 }, (_, index) => `11.0.${index >> 8}.${index & 255}`);
    const server = await nameServer({ [NAME]: { A: addresses } });
    expect(await nameServerResolver([server.address])(NAME)).toEqual(addresses);
    expect(server.queries.filter((query) => query.startsWith('A '))).toHaveLength(2);
  });

  it('resolves localhost without a query', async () => {
    const server = await nameServer({});
    expect(await nameServerResolver([server.address])('localhost')).toEqual(['127.0.0.1', '::1']);
    expect(server.queries).toEqual([]);
  });
});
