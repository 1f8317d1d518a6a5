import { Agent, request } from 'node:https';
import { isIP } from 'node:net';
import { describe, expect, it } from 'vitest';
import type { OutboundResult } from '../../../../functions/delivery/outbound/client.ts';
import { checkReceiverUrl } from '../../../../functions/receivers/receiver-url.ts';
import { type Attempt, observedConnections } from './connections-observed.ts';
import { forbiddenHosts, permittedUrls } from './corpus.ts';
import { emptyAnswers, forbiddenAnswers, publicAnswers } from './corpus-dns-answers.ts';
import { forbiddenUrls } from './corpus-forbidden-urls.ts';
import type { Zone } from './name-server.ts';
import { authority, guardedClient, postTo, type Receiver, rawReceiver, tcpReceiver } from './receivers.ts';

const refuse = { loopback: 'refuse' } as const;
const NAME = 'receiver.example.com';
const SOMEWHERE = '93.184.215.14';

/** A URL's host without the brackets of an IPv6 address. */
function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '');
}

/**
 * Names and addresses as the parser writes them, so that one certificate is valid for every URL of the
 * corpus.
 */
const hosts = [...new Set(permittedUrls.map(([url]) => hostOf(new URL(url))))];
const tls = await authority.issue({
  names: [NAME, ...hosts.filter((host) => isIP(host) === 0)],
  addresses: hosts.filter((host) => isIP(host) !== 0),
});

interface Arrival {
  servername: string | false | undefined;
  hostHeader: string | undefined;
}

/**
 * The deployed client with the test's name server and certificates, its connections, and the requests that
 * arrive.
 */
async function guarded(zone: Zone): Promise<{
  attempts: Attempt[];
  arrivals: Arrival[];
  receiver: Receiver;
  queries: string[];
  post(url: URL): Promise<OutboundResult>;
}> {
  const arrivals: Arrival[] = [];
  const receiver = await rawReceiver((socket, head) => {
    const hostHeader = /^host: (.*)\r$/im.exec(head.toString('latin1'))?.[1];
    arrivals.push({
      servername: 'servername' in socket ? (socket.servername as string) : undefined,
      hostHeader,
    });
    socket.end('HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n');
  }, tls);
  const { server, attempts, client } = await guardedClient(zone, receiver);
  return { attempts, arrivals, receiver, queries: server.queries, post: (url) => postTo(client, url) };
}

/** The texts of the corpus that parse as a URL; the others cannot be requested. */
function parsed(entries: readonly (readonly [text: string, why: string])[]): (readonly [URL, string])[] {
  return entries.flatMap(([text, why]) => {
    const url = URL.parse(text);
    return url ? [[url, why] as const] : [];
  });
}

const urlsOfForbiddenHosts = parsed(forbiddenHosts.map(([host, why]) => [`https://${host}:8443/hook`, why]));

/** The first address gets every connection, even on a busy machine. */
const agent = new Agent({ autoSelectFamilyAttemptTimeout: 60_000 });

/** Posts without the guard, for comparison: to any address, without verification. */
async function unguardedPost(url: URL, addresses: readonly string[]): Promise<void> {
  const outgoing = request(url, {
    method: 'POST',
    agent,
    rejectUnauthorized: false,
    lookup: (_host, _options, callback) =>
      callback(
        null,
        addresses.map((address) => ({ address, family: isIP(address) })),
      ),
  });
  outgoing.on('response', (response) => response.resume());
  // The result does not matter.
  outgoing.on('error', () => undefined);
  await new Promise<void>((closed) => outgoing.on('close', closed).end());
}

describe('the corpus', () => {
  it('has the documented size, without duplicates', () => {
    const urls = [
      ...forbiddenHosts.map(([host]) => `https://${host}/hook`),
      ...forbiddenUrls.map(([url]) => url),
      ...permittedUrls.map(([url]) => url),
    ];
    expect(new Set(urls).size).toBe(urls.length);
    expect(urls.length).toBeGreaterThanOrEqual(300);
    expect(permittedUrls.length).toBeGreaterThanOrEqual(100);

    const answers = [...forbiddenAnswers, ...publicAnswers, ...emptyAnswers].map(([, records]) => records);
    expect(new Set(answers.map((records) => JSON.stringify(records))).size).toBe(answers.length);
    expect(answers.length).toBeGreaterThanOrEqual(60);
  });
});

describe('the guard', () => {
  it.each(urlsOfForbiddenHosts)('begins no connection to the host of %s: %s', async (url) => {
    const { attempts, queries, post } = await guarded({ '*': { A: [SOMEWHERE] } });
    expect(await post(url)).toMatchObject({
      kind: 'failed',
      errorCode: 'address_forbidden',
      error: expect.stringMatching(/^url /),
    });
    expect(attempts).toEqual([]);
    expect(queries).toEqual([]);
  });

  it.each(forbiddenUrls)('begins no connection for %j: %s', async (text) => {
    expect(checkReceiverUrl(text, refuse)).toMatchObject({ ok: false });

    // The parser may repair a stored text into a URL; that URL must be public.
    const url = URL.parse(text);
    if (!url) return;
    const { attempts, post } = await guarded({ '*': { A: ['127.0.0.1'] } });
    expect(await post(url)).toMatchObject({ kind: 'failed' });
    expect(attempts).toEqual([]);
  });

  it.each(forbiddenAnswers)('begins no connection to a name that leads to %s', async (_why, records) => {
    const { attempts, receiver, post } = await guarded({ [NAME]: records });
    expect(await post(new URL(`https://${NAME}/hook`))).toMatchObject({
      kind: 'failed',
      errorCode: 'address_forbidden',
      error: 'address is not public',
    });
    expect(attempts).toEqual([]);
    expect(receiver.connections).toBe(0);
  });

  it.each(emptyAnswers)(
    'begins no connection to a name of which the name server says %s',
    async (_what, records, error) => {
      const { attempts, post } = await guarded(records ? { [NAME]: records } : {});
      expect(await post(new URL(`https://${NAME}/hook`))).toMatchObject({ kind: 'failed', error });
      expect(attempts).toEqual([]);
    },
  );

  it('is what prevents these connections: without it they begin, and are recorded', async () => {
    const attempts = await observedConnections(await tcpReceiver((socket) => socket.destroy()));
    const urls = urlsOfForbiddenHosts.map(([url]) => url).filter((url) => isIP(hostOf(url)) !== 0);
    for (const url of urls) await unguardedPost(url, []);
    const addresses = forbiddenAnswers.map(([, { A, AAAA }]) =>
      [A, AAAA].flatMap((answer) => (typeof answer === 'object' ? answer : [])).filter((text) => isIP(text)),
    );
    for (const several of addresses) await unguardedPost(new URL(`https://${NAME}:8443/`), several);

    expect(urls.length).toBeGreaterThan(150);
    expect(attempts).toHaveLength(urls.length + addresses.length);
    expect(new Set(attempts.map(({ address }) => address))).toContain('169.254.169.254');
  });
});

describe('the guarded client', () => {
  it.each(permittedUrls)('reaches a public receiver at %s (%s)', async (text) => {
    const url = new URL(text);
    const host = hostOf(url);
    const { attempts, arrivals, post } = await guarded({ '*': { A: [SOMEWHERE] } });

    expect(checkReceiverUrl(text, refuse)).toEqual({ ok: true, url });
    expect(await post(url)).toMatchObject({ kind: 'answered', status: 204 });
    const isAddress = isIP(host) !== 0;
    expect(attempts).toEqual([{ address: isAddress ? host : SOMEWHERE, port: Number(url.port || 443) }]);
    expect(arrivals).toEqual([{ servername: isAddress ? false : host, hostHeader: url.host }]);
  });

  it.each(publicAnswers)('reaches a public receiver whose name leads to %s', async (_what, records, to) => {
    const { attempts, arrivals, post } = await guarded({ [NAME]: records });
    expect(await post(new URL(`https://${NAME}/hook`))).toMatchObject({ kind: 'answered', status: 204 });
    expect(attempts[0]).toEqual({ address: to, port: 443 });
    // A busy machine may take so long for the first address that the client tries the next, which was checked
    // as well.
    const checked = [records.A, records.AAAA].flat();
    for (const { address } of attempts) expect(checked).toContain(address);
    expect(arrivals).toEqual([{ servername: NAME, hostHeader: NAME }]);
  });
});
