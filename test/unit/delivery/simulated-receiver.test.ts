import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { OutboundRequest } from '../../../functions/delivery/outbound/client.ts';
import { simulatedReceiver } from '../../../functions/delivery/webhook-sender.ts';
import type { ReceiverPolicy } from '../../../functions/receivers/receiver-url.ts';
import { observedConnections } from './outbound/connections-observed.ts';
import { aPermit } from './outbound/permit.ts';
import { bodyOf, httpsReceiver, localClient } from './outbound/receivers.ts';
import { TIMEOUT_MS } from './sender-fixture.ts';

/** A receiver that records how long it would have waited. */
function aReceiver(policy: ReceiverPolicy = { loopback: 'refuse' }) {
  const waits: number[] = [];
  const { post } = simulatedReceiver({
    policy,
    timeoutMs: TIMEOUT_MS,
    wait: async (ms) => waits.push(ms),
  });
  return { post, waits };
}

const requestTo = (query: string, body = '{}'): OutboundRequest => ({
  url: new URL(`https://receiver.example.com/hook${query}`),
  headers: { 'content-type': 'application/json' },
  body: Buffer.from(body),
});

describe('the stored copy of a simulated request', () => {
  it("is what a real receiver would have got, without the connection's headers", async () => {
    const got: { headers: string[]; line: string; body: string }[] = [];
    const receiver = await httpsReceiver(async (request, response) => {
      const { method, url, rawHeaders } = request;
      got.push({ line: `${method} ${url}`, headers: rawHeaders, body: await bodyOf(request) });
      response.writeHead(204).end();
    });
    const client = localClient();
    const simulated = aReceiver({ loopback: 'allow' });
    const permit = await aPermit();
    const requests = fc.record({
      host: fc.constantFrom('localhost', '127.0.0.1', 'receiver.example.com'),
      path: fc.constantFrom('/', '/a/b?c=d%20e', '/ü?x=ä&simulate=200', '/%2f//x?'),
      headers: fc.dictionary(fc.stringMatching(/^x-[a-z0-9-]{1,20}$/), fc.stringMatching(/^[ -~]{0,40}$/)),
      body: fc.jsonValue().map((value) => JSON.stringify(value)),
    });
    await fc.assert(
      fc.asyncProperty(requests, async ({ host, path, headers, body }) => {
        const request: OutboundRequest = {
          url: receiver.url(host, path),
          headers: { 'content-type': 'application/json', 'user-agent': 'Example/1.0', ...headers },
          body: Buffer.from(body),
        };

        const real = await client.post(request, permit);
        const { request: kept, result } = await simulated.post(request, 1);

        expect([real.kind, result.kind]).toEqual(['answered', 'answered']);
        const [sent] = got.splice(0);
        const names =
          sent?.headers.flatMap((name, index) => (index % 2 === 0 ? [name.toLowerCase()] : [])) ?? [];
        const onTheWire = Object.fromEntries(
          names.map((name, index) => [name, sent?.headers[2 * index + 1]]),
        );
        const { connection: _, ...compared } = onTheWire;
        expect(names).toHaveLength(new Set(names).size);
        // Space around a value is not part of it (RFC 9110, 5.5), and Node's parser removes it.
        const trimmed = Object.entries(kept.headers).map(([name, value]) => [name, value.trim()]);
        expect(Object.fromEntries(trimmed)).toEqual(compared);
        const { href, origin } = new URL(kept.url);
        expect({ line: `${kept.method} ${href.slice(origin.length)}`, body: kept.body }).toEqual({
          line: sent?.line,
          body: sent?.body,
        });
      }),
      { numRuns: 60 },
    );
  });

  it('has the given headers, and those of every request', async () => {
    const { request } = await aReceiver().post(requestTo('', '"ü"'), 1);
    expect(request.headers).toEqual({
      host: 'receiver.example.com',
      'content-type': 'application/json',
      'accept-encoding': 'identity',
      'content-length': '4',
    });
  });
});

describe('a simulated receiver', () => {
  it.each<[string, number, object]>([
    ['', 1, { kind: 'answered', status: 200 }],
    ['?simulate=503,200', 1, { kind: 'answered', status: 503 }],
    ['?simulate=503,200', 2, { kind: 'answered', status: 200 }],
    ['?simulate=503,200', 8, { kind: 'answered', status: 200 }],
    ['?simulate=refused', 1, { kind: 'failed', error: 'connection refused' }],
    ['?simulate=timeout', 1, { kind: 'failed', error: 'timed out after 10 s', durationMs: TIMEOUT_MS }],
    ['?simulate=nonsense', 1, { kind: 'answered', status: 200 }],
  ])('with the query "%s" answers attempt %i as programmed', async (query, attempt, result) => {
    expect((await aReceiver().post(requestTo(query), attempt)).result).toMatchObject(result);
  });

  it('waits as its URL says, and returns how long', async () => {
    const { post, waits } = aReceiver();
    expect(await post(requestTo('?simulate=200@3s&simulate-speed=100'), 1)).toMatchObject({
      result: { durationMs: 30 },
    });
    await post(requestTo('?simulate=timeout'), 1);
    await post(requestTo(''), 1);
    expect(waits).toEqual([30, TIMEOUT_MS]);
  });

  it('waits by the real clock by default', async () => {
    const { post } = simulatedReceiver({ policy: { loopback: 'refuse' }, timeoutMs: TIMEOUT_MS });
    const before = performance.now();
    await post(requestTo('?simulate=200@40ms'), 1);
    expect(performance.now() - before).toBeGreaterThanOrEqual(39);
  });

  it.each(['http://receiver.example.com/', 'https://10.0.0.1/', 'https://user@receiver.example.com/'])(
    'fails at %s, which is no permitted URL, and the request is stored all the same',
    async (address) => {
      const { post, waits } = aReceiver();
      const { result, request } = await post({ ...requestTo(''), url: new URL(address) }, 1);
      expect(result).toEqual({
        kind: 'failed',
        error: expect.stringMatching(/^url /),
        errorCode: 'address_forbidden',
        durationMs: 0,
      });
      expect(request.url).toBe(address);
      expect(waits).toEqual([]);
    },
  );

  it('opens no connection, regardless of the request', async () => {
    const attempts = await observedConnections({ port: 9 });
    const { post } = aReceiver({ loopback: 'allow' });
    for (const query of ['', '?simulate=refused', '?simulate=dns', '?simulate=tls', '?simulate=timeout'])
      for (const host of ['localhost', '127.0.0.1', 'receiver.example.com'])
        await post({ ...requestTo(query), url: new URL(`https://${host}:9999/${query}`) }, 1);
    expect(attempts).toEqual([]);
  });
});
