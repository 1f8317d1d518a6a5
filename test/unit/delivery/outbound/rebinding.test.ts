import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { nameServerResolver } from '../../../../functions/delivery/outbound/agent.ts';
import { type OutboundResult, receiverClient } from '../../../../functions/delivery/outbound/client.ts';
import { type Attempt, observedConnections } from './connections-observed.ts';
import { type NameServer, nameServer, type Zone } from './name-server.ts';
import { authority, guardedClient, httpsReceiver, postTo, type Receiver } from './receivers.ts';

const NAME = 'receiver.example.com';
const url = new URL(`https://${NAME}/hook`);
const PUBLIC = '93.184.215.14';
const refused = { kind: 'failed', error: 'address is not public' };

interface Rebinding {
  attempts: Attempt[];
  receiver: Receiver;
  server: NameServer;
  post(): Promise<OutboundResult>;
}

/** The deployed client, and a receiver at the address that its name server currently returns. */
async function rebinding(
  zone: Zone,
  {
    closes = false,
    now = Date.now,
    onRequest = () => undefined,
  }: { closes?: boolean; now?: () => number; onRequest?: () => void } = {},
): Promise<Rebinding> {
  const receiver = await httpsReceiver((_request, response) => {
    onRequest();
    response.writeHead(204, closes ? { connection: 'close' } : {}).end();
  });
  const { server, attempts, client } = await guardedClient(zone, receiver, now);
  return { attempts, receiver, server, post: () => postTo(client, url) };
}

/** Returns one address after the other, one for each question, and then the last. */
function inTurn(...addresses: [string, ...string[]]): Zone {
  const left = [...addresses];
  const next = () => (left.length > 1 ? left.shift() : left[0]) ?? addresses[0];
  return {
    [NAME]: {
      get A() {
        return [next()];
      },
    },
  };
}

describe('a name that changes between questions', () => {
  it('is resolved once for each connection, which goes to the address of that answer', async () => {
    const { attempts, server, post } = await rebinding(inTurn(PUBLIC, '127.0.0.1'));
    expect(await post()).toMatchObject({ kind: 'answered', status: 204 });
    expect(attempts).toEqual([{ address: PUBLIC, port: 443 }]);
    expect(server.queries.filter((query) => query === `A ${NAME}`)).toHaveLength(1);
  });

  it.each(['127.0.0.1', '10.0.0.1', '169.254.169.254'])(
    'is refused once it leads from a public address to %s',
    async (inside) => {
      const { attempts, post } = await rebinding(inTurn(PUBLIC, inside), { closes: true });
      expect(await post()).toMatchObject({ kind: 'answered', status: 204 });
      expect(await post()).toMatchObject(refused);
      expect(await post()).toMatchObject(refused);
      expect(attempts).toEqual([{ address: PUBLIC, port: 443 }]);
    },
  );

  it('is reached once it leads from a private address to a public one', async () => {
    const { attempts, post } = await rebinding(inTurn('10.0.0.1', PUBLIC), { closes: true });
    expect(await post()).toMatchObject(refused);
    expect(attempts).toEqual([]);
    expect(await post()).toMatchObject({ kind: 'answered', status: 204 });
    expect(attempts).toEqual([{ address: PUBLIC, port: 443 }]);
  });

  it('is connected to at checked addresses only, in any order of answers', async () => {
    const zone: Zone = {};
    const { attempts, post } = await rebinding(zone, { closes: true });
    const address = fc.constantFrom(PUBLIC, '8.8.8.8', '127.0.0.1', '10.0.0.1', '169.254.169.254');
    const step = fc.record({ A: fc.array(address, { maxLength: 3 }), inside6: fc.boolean() });

    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 6 }), async (steps) => {
        for (const { A, inside6 } of steps) {
          zone[NAME] = { A, AAAA: inside6 ? ['fd00::1'] : [] };
          attempts.length = 0;
          const result = await post();
          const allowed = !inside6 && A.every((text) => text === PUBLIC || text === '8.8.8.8');
          expect(result.kind).toBe(allowed && A.length > 0 ? 'answered' : 'failed');
          expect(attempts[0]?.address).toBe(allowed ? A[0] : undefined);
          for (const attempt of attempts) expect(A).toContain(attempt.address);
        }
      }),
      { numRuns: 30 },
    );
  });
});

describe('a pooled connection to a name that now leads to an internal address', () => {
  it('keeps the checked address, and is not reused after a second without use', async () => {
    let time = 0;
    const { attempts, receiver, post } = await rebinding(inTurn(PUBLIC, '127.0.0.1'), { now: () => time });
    expect(await post()).toMatchObject({ kind: 'answered' });
    time += 1000;
    expect(await post()).toMatchObject(refused);
    expect(attempts).toEqual([{ address: PUBLIC, port: 443 }]);
    expect(receiver.connections).toBe(1);
  });

  it('is not reused once it is a minute old, although it was never idle', async () => {
    let time = 0;
    const { attempts, post } = await rebinding(inTurn(PUBLIC, '127.0.0.1'), {
      now: () => time,
      onRequest: () => {
        time += 60_000;
      },
    });
    expect(await post()).toMatchObject({ kind: 'answered' });
    // Several posts, because the first may run before a connection is back in the pool.
    for (let more = 0; more < 5; more += 1) expect(await post()).toMatchObject(refused);
    expect(attempts).toEqual([{ address: PUBLIC, port: 443 }]);
  });
});

describe('an answer of a name server', () => {
  it('causes no connection when it comes after the deadline', async () => {
    const receiver = await httpsReceiver((_request, response) => response.end());
    const attempts = await observedConnections(receiver);
    const answer = Promise.withResolvers<string[]>();
    const client = receiverClient({
      policy: { loopback: 'refuse' },
      timeoutMs: 100,
      resolve: () => answer.promise,
      tls: { ca: authority.cert },
    });
    onTestFinished(() => client.close());

    expect(await postTo(client, url)).toMatchObject({ kind: 'failed', error: 'timed out after 0.1 s' });
    answer.resolve([PUBLIC]);
    await new Promise((later) => setImmediate(later));
    expect(attempts).toEqual([]);
  });

  /** The addresses that are tried for what a name server says, none of which accepts a connection. */
  async function triesOf(named: { A: string[]; AAAA?: string[] }): Promise<string[]> {
    const server = await nameServer({ [NAME]: named });
    // A port that another process has, at an address where no process listens.
    const receiver = await httpsReceiver((_request, response) => response.end());
    const attempts = await observedConnections({ host: '127.0.0.2', port: receiver.port });
    const client = receiverClient({
      policy: { loopback: 'refuse' },
      timeoutMs: 20_000,
      resolve: nameServerResolver([server.address]),
    });
    onTestFinished(() => client.close());
    expect(await postTo(client, url)).toMatchObject({
      kind: 'failed',
      errorCode: 'connection_refused',
      error: 'connection refused',
    });
    return attempts.map(({ address }) => address);
  }

  it('with a thousand refusing addresses causes a few tries for each family', async () => {
    const many = Array.from({ length: 1000 }, (_, index) => `11.0.${index >> 8}.${index & 255}`);
    const many6 = Array.from({ length: 1000 }, (_, index) => `2606:4700::${(index + 1).toString(16)}`);
    const tried = await triesOf({ A: many, AAAA: many6 });
    expect(tried.toSorted()).toEqual([...many.slice(0, 4), ...many6.slice(0, 4)].toSorted());
  });

  it('causes one try for an address that it names more than once', async () => {
    expect(await triesOf({ A: [PUBLIC, PUBLIC, PUBLIC] })).toEqual([PUBLIC]);
  });
});

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
