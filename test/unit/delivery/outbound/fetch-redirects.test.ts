import type { IncomingHttpHeaders } from 'node:http';
import { describe, expect, it } from 'vitest';
import { nameServerResolver } from '../../../../functions/delivery/outbound/agent.ts';
import { nameServer } from './name-server.ts';
import { fetchFrom, httpsReceiver, localClient, rawReceiver } from './receivers.ts';

/** A server of redirects by path, each a status and a target; every other path is a page. */
async function aMaze(redirects: Record<string, [status: number, location?: string]>) {
  const asked: { url: string; headers: IncomingHttpHeaders }[] = [];
  const server = await httpsReceiver(({ url = '', headers }, response) => {
    asked.push({ url, headers });
    const [status, location] = redirects[url] ?? [200];
    response.writeHead(status, location === undefined ? {} : { location }).end(`page ${url}`);
  });
  return { server, asked, paths: () => asked.map(({ url }) => url) };
}

describe('a redirect', () => {
  it.each([301, 302, 303, 307, 308])('with %i is followed', async (status) => {
    const { server, paths } = await aMaze({ '/a': [status, '/b'] });
    expect(await fetchFrom(localClient(), server.url('localhost', '/a'))).toMatchObject({
      kind: 'fetched',
      url: server.url('localhost', '/b').href,
    });
    expect(paths()).toEqual(['/a', '/b']);
  });

  it.each([
    ['a path', '/b', '/b'],
    ['a relative path', 'b?x=1', '/dir/b?x=1'],
    ['a path above', '../b', '/b'],
    ['a path with a fragment', '/b#part', '/b'],
    ['an address of the same scheme', '//receiver.example.com:PORT/b', '/b'],
    ['a path that is UTF-8', '/caf\u00c3\u00a9', '/caf%C3%A9'],
    ['nothing but a query', '?x=1', '/dir/a?x=1'],
  ])('is followed to %s', async (_what, location, path) => {
    const asked: string[] = [];
    const server = await rawReceiver((socket, head) => {
      const [, target = ''] = head.toString('latin1').split(' ');
      asked.push(target);
      const answer =
        target === '/dir/a'
          ? `HTTP/1.1 302 Found\r\nlocation: ${location.replace('PORT', String(server.port))}\r\n`
          : 'HTTP/1.1 200 OK\r\n';
      socket.end(Buffer.from(`${answer}content-length: 0\r\nconnection: close\r\n\r\n`, 'latin1'));
    });
    expect(await fetchFrom(localClient(), server.url('localhost', '/dir/a'))).toMatchObject({
      kind: 'fetched',
    });
    expect(asked).toEqual(['/dir/a', path]);
  });

  it('is followed at most five times', async () => {
    const { server, paths } = await aMaze(
      Object.fromEntries(Array.from({ length: 9 }, (_, step) => [`/${step}`, [302, `/${step + 1}`]])),
    );
    const client = localClient();
    expect(await fetchFrom(client, server.url('localhost', '/4'))).toMatchObject({ kind: 'fetched' });
    expect(paths()).toEqual(['/4', '/5', '/6', '/7', '/8', '/9']);
    expect(await fetchFrom(client, server.url('localhost', '/3'))).toEqual({
      kind: 'failed',
      errorCode: 'redirect',
      error: 'too many redirects',
    });
    expect(paths().slice(6)).toEqual(['/3', '/4', '/5', '/6', '/7', '/8']);
  });

  it('to itself fails', async () => {
    const { server, asked } = await aMaze({ '/hook': [302, '/hook'] });
    expect(await fetchFrom(localClient(), server.url())).toMatchObject({ error: 'too many redirects' });
    expect(asked).toHaveLength(6);
  });

  it('to itself succeeds once the request has the cookie that it sets', async () => {
    const server = await httpsReceiver(({ headers }, response) => {
      if (headers.cookie === 'consent=yes; id=a b') return response.end('page');
      const cookies = [
        'consent=yes; Path=/; Secure',
        'id=a b ;HttpOnly',
        'old=1; Max-Age=0',
        'invalid',
        '=x',
      ];
      response.writeHead(302, { location: '/hook', 'set-cookie': cookies }).end();
    });
    expect(await fetchFrom(localClient(), server.url())).toMatchObject({ kind: 'fetched' });
  });

  it('replaces and deletes cookies of earlier redirects', async () => {
    const steps = [['a=1', 'b=1'], ['a=2', 'b=; max-age=-1'], []];
    const sent: (string | undefined)[] = [];
    const server = await httpsReceiver(({ headers }, response) => {
      sent.push(headers.cookie);
      const cookies = steps[sent.length - 1];
      if (cookies === undefined) return response.end('page');
      response.writeHead(302, { location: `/${sent.length}`, 'set-cookie': cookies }).end();
    });
    await fetchFrom(localClient(), server.url());
    expect(sent).toEqual([undefined, 'a=1; b=1', 'a=2', 'a=2']);
  });

  it.each([
    ['www.receiver.example.com', 'a=1', undefined],
    ['www.receiver.example.com', 'a=1; Domain=.receiver.example.com', 'a=1'],
    ['www.receiver.example.com', 'a=1; domain=RECEIVER.example.com; path=/', 'a=1'],
    ['localhost', 'a=1; Domain=localhost', undefined],
    ['localhost', 'a=1; Domain=receiver.example.com', undefined],
    ['localhost', 'a=1; Domain=', undefined],
  ])('sends %s the cookie %s of another host as %s', async (host, cookie, expected) => {
    const sent: (string | undefined)[] = [];
    const server = await httpsReceiver(({ url, headers }, response) => {
      if (url === '/page') {
        sent.push(headers.cookie);
        return response.end('page');
      }
      const location = server.url(host, '/page').href;
      response.writeHead(302, { location, 'set-cookie': cookie }).end();
    });
    const first = server.url('receiver.example.com', '/start');
    expect(await fetchFrom(localClient(), first)).toMatchObject({ kind: 'fetched' });
    expect(sent).toEqual([expected]);
  });

  it('keeps no cookie for the next fetch', async () => {
    const sent: (string | undefined)[] = [];
    const server = await httpsReceiver(({ url, headers }, response) => {
      sent.push(headers.cookie);
      if (url === '/b') return response.end('page');
      response.writeHead(302, { location: '/b', 'set-cookie': 'a=1' }).end();
    });
    const client = localClient();
    await fetchFrom(client, server.url('localhost', '/a'));
    await fetchFrom(client, server.url('localhost', '/b'));
    expect(sent).toEqual([undefined, 'a=1', undefined]);
  });

  it('keeps the conditions of the request, and is itself no answer to them', async () => {
    const { server, asked } = await aMaze({ '/a': [301, '/b'], '/b': [304] });
    const headers = { 'if-none-match': '"1"', 'if-modified-since': 'Wed, 21 Oct 2015 07:28:00 GMT' };
    expect(await fetchFrom(localClient(), server.url('localhost', '/a'), headers)).toEqual({
      kind: 'not-modified',
    });
    expect(asked).toMatchObject([{ headers }, { headers }]);
  });

  it.each([301, 302, 303, 307, 308])('with %i and no target fails', async (status) => {
    const { server } = await aMaze({ '/hook': [status] });
    expect(await fetchFrom(localClient(), server.url())).toEqual({
      kind: 'failed',
      errorCode: 'redirect',
      error: 'redirected without a valid Location header',
    });
  });
});

describe('a forbidden redirect', () => {
  it.each([
    ['to plain HTTP', 'http://receiver.example.com/', 'url must use https'],
    ['to another scheme', 'ftp://receiver.example.com/', 'url must use https'],
    ['to a file', 'file:///etc/passwd', 'url must use https'],
    ['to data', 'data:text/html,x', 'url must use https'],
    ['with credentials', 'https://a:b@receiver.example.com/', 'url must not contain credentials'],
    ['to a low port', 'https://receiver.example.com:22/', 'url port must be 443 or at least 1024'],
    [
      'to the metadata service',
      'https://169.254.169.254/latest/',
      'url must have a public host name or public address',
    ],
    ['to a private address', 'https://10.0.0.1/', 'url must have a public host name or public address'],
    ['to a decimal address', 'https://2852039166/', 'url must have a public host name or public address'],
    [
      'to a mapped address',
      'https://[::ffff:a9fe:a9fe]/',
      'url must have a public host name or public address',
    ],
    ['to an internal name', 'https://db.internal/', 'url must have a public host name or public address'],
    [
      'to an overlong URL',
      `https://receiver.example.com/${'a'.repeat(2100)}`,
      'url must be at most 2048 characters',
    ],
  ])('%s fails', async (_where, location, problem) => {
    const resolved: string[] = [];
    const { server } = await aMaze({ '/hook': [302, location] });
    const client = localClient({
      resolve: async (host) => {
        resolved.push(host);
        return ['127.0.0.1'];
      },
    });
    expect(await fetchFrom(client, server.url())).toEqual({
      kind: 'failed',
      errorCode: 'redirect',
      error: `redirected to a URL that is not allowed: ${problem}`,
    });
    expect(resolved).toEqual(['localhost']);
    expect(server.connections).toBe(1);
  });

  it.each([
    ['a private address', ['10.0.0.1']],
    ['the metadata service', ['169.254.169.254']],
    ['a public and a private address', ['93.184.215.14', '192.168.0.1']],
  ])('to a name that leads to %s fails', async (_where, addresses) => {
    const names = await nameServer({
      'receiver.example.com': { A: ['127.0.0.1'] },
      'other.example.com': { A: addresses },
    });
    const { server } = await aMaze({ '/hook': [302, 'https://other.example.com:8443/'] });
    const client = localClient({ resolve: nameServerResolver([names.address]) });
    expect(await fetchFrom(client, server.url('receiver.example.com'))).toEqual({
      kind: 'failed',
      errorCode: 'address_forbidden',
      error: 'address is not public',
    });
  });

  it('to loopback fails outside the local run', async () => {
    const { server } = await aMaze({});
    const client = localClient({ policy: { loopback: 'refuse' }, resolve: async () => ['127.0.0.1'] });
    expect(await fetchFrom(client, server.url('receiver.example.com'))).toEqual({
      kind: 'failed',
      errorCode: 'address_forbidden',
      error: 'address is not public',
    });
    expect(await fetchFrom(client, server.url('127.0.0.1'))).toEqual({
      kind: 'failed',
      errorCode: 'address_forbidden',
      error: 'url must have a public host name or public address',
    });
    expect(server.connections).toBe(0);
  });

  it('to a server whose certificate is for another name fails', async () => {
    const { server } = await aMaze({ '/a': [302, 'https://wrong.example.com:PORT/'] });
    const away = await aMaze({ '/hook': [302, `https://wrong.example.com:${server.port}/`] });
    expect(await fetchFrom(localClient(), away.server.url())).toEqual({
      kind: 'failed',
      errorCode: 'tls',
      error: 'TLS certificate does not name this host',
    });
  });
});
