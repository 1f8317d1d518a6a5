import { describe, expect, it } from 'vitest';
import { nameServerResolver } from '../../../functions/platform/outbound/addresses.ts';
import { nameServer } from './name-server.ts';
import { httpsReceiver, localClient, postTo } from './receivers.ts';

const NAME = 'receiver.example.com';
const IPV4 = [93, 184, 215, 14];
const IPV6 = [0x26, 0x06, 0x28, 0, 0x02, 0x1f, 0xcb, 0x07, 0x68, 0x20, 0x80, 0xda, 0xaf, 0x6b, 0x8b, 0x2c];
const IPV4_TEXT = '93.184.215.14';
const IPV6_TEXT = '2606:2800:21f:cb07:6820:80da:af6b:8b2c';

describe('the resolver', () => {
  it.each([
    ['both families', { A: [IPV4], AAAA: [IPV6] }, [IPV4_TEXT, IPV6_TEXT]],
    ['several addresses', { A: [IPV4, [8, 8, 8, 8]] }, [IPV4_TEXT, '8.8.8.8']],
    ['IPv4 only', { A: [IPV4] }, [IPV4_TEXT]],
    ['IPv6 only', { AAAA: [IPV6] }, [IPV6_TEXT]],
    ['IPv4 although nobody answers for IPv6', { A: [IPV4], AAAA: 'silence' as const }, [IPV4_TEXT]],
  ])('gives %s', async (_what, records, addresses) => {
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

  it('knows localhost by itself', async () => {
    const server = await nameServer({});
    expect(await nameServerResolver([server.address])('localhost')).toEqual(['127.0.0.1', '::1']);
    expect(server.queries).toEqual([]);
  });
});

describe('a client with a name server', () => {
  it('posts to where the name leads', async () => {
    const server = await nameServer({ [NAME]: { A: [[127, 0, 0, 1]] } });
    const receiver = await httpsReceiver((_request, response) => response.writeHead(204).end());
    const client = localClient({ resolve: nameServerResolver([server.address]) });
    expect(await postTo(client, receiver.url(NAME))).toMatchObject({ kind: 'answered', status: 204 });
  });

  it.each([
    ['does not exist', {}, 'host name does not resolve'],
    ['has no address', { [NAME]: {} }, 'host name does not resolve'],
    ['leads inside', { [NAME]: { A: [IPV4, [10, 0, 0, 1]] } }, 'address is not public'],
  ])('fails when the name %s', async (_what, zone, error) => {
    const server = await nameServer(zone);
    const client = localClient({ resolve: nameServerResolver([server.address]) });
    expect(await postTo(client, new URL(`https://${NAME}/`))).toMatchObject({ kind: 'failed', error });
  });
});
