import { describe, expect, it } from 'vitest';
import type { AttemptErrorCode } from '../../../../functions/delivery/delivery.ts';
import type { OutboundResult } from '../../../../functions/delivery/outbound/client.ts';
import { SIMULATED_FAILURES } from '../../../../functions/delivery/simulation.ts';
import { aSender, claimed, claimedInSandbox, endpoint, event, ignore } from '../sender-fixture.ts';
import { authority, httpsReceiver, localClient, postTo, rawReceiver, tcpReceiver } from './receivers.ts';

const HASTY = 150;
type Options = Parameters<typeof localClient>[0];

const answering = async (status: number) => {
  const receiver = await httpsReceiver((_request, response) => response.writeHead(status).end());
  return postTo(localClient(), receiver.url());
};
const writing = async (bytes: string, options: Options = {}) =>
  postTo(localClient(options), (await rawReceiver((socket) => socket.write(bytes))).url());
const presenting = async (subject: Parameters<typeof authority.issue>[0]) => {
  const tls = { ...(await authority.issue(subject)), ciphers: 'DEFAULT:@SECLEVEL=0' };
  const receiver = await httpsReceiver((_request, response) => response.end(), tls);
  return postTo(localClient(), receiver.url('receiver.example.com'));
};
const resolving = async (resolve: () => Promise<string[]>, options: Options = {}) => {
  const receiver = await httpsReceiver((_request, response) => response.end());
  return postTo(localClient({ resolve, ...options }), receiver.url('receiver.example.com'));
};
const failing = (code: string) => async () => {
  throw Object.assign(new Error(), { code });
};
const HEADERS = 'HTTP/1.1 200 OK\r\n';
const names = ['receiver.example.com'];

/** Every way in which a post on real sockets fails, by the code that the customer sees. */
const FAILURES: Record<Exclude<AttemptErrorCode, 'lost'>, [string, () => Promise<OutboundResult>][]> = {
  http_status: [101, 300, 304, 400, 404, 410, 429, 500, 503, 599].map((status) => [
    `status ${status}`,
    () => (status === 101 ? writing(`HTTP/1.1 101 X\r\nupgrade: x\r\n\r\n`) : answering(status)),
  ]),
  redirect: [301, 302, 303, 307, 308].map((status) => [`status ${status}`, () => answering(status)]),
  timeout: [
    ['no response', () => writing('', { timeoutMs: HASTY })],
    ['half a response', () => writing(HEADERS, { timeoutMs: HASTY })],
    [
      'a name that does not resolve in time',
      () => resolving(() => new Promise(() => undefined), { timeoutMs: HASTY }),
    ],
  ],
  connection_refused: [
    [
      'a closed port',
      async () =>
        postTo(localClient(), new URL(`https://127.0.0.2:${(await tcpReceiver(() => undefined)).port}/`)),
    ],
  ],
  connection_closed: [
    [
      'a reset',
      async () =>
        postTo(
          localClient(),
          (await tcpReceiver((socket) => socket.once('data', () => socket.resetAndDestroy()))).url(),
        ),
    ],
    [
      'an end before the handshake',
      async () => postTo(localClient(), (await tcpReceiver((socket) => socket.resume().end())).url()),
    ],
    [
      'an end before the response',
      async () => postTo(localClient(), (await rawReceiver((socket) => socket.end())).url()),
    ],
  ],
  dns: ['ENOTFOUND', 'ENODATA', 'ESERVFAIL', 'ETIMEOUT', 'ECONNREFUSED'].map((code) => [
    code,
    () => resolving(failing(code)),
  ]),
  tls: [
    ['another name', () => presenting({ names: ['other.example.com'] })],
    ['an expired certificate', () => presenting({ names, until: new Date(0) })],
    ['a certificate for clients only', () => presenting({ names, usage: 'clients' })],
    ['a weak key', () => presenting({ names, isWeak: true })],
    [
      'plain HTTP',
      async () => postTo(localClient(), (await tcpReceiver((socket) => socket.end(`${HEADERS}\r\n`))).url()),
    ],
  ],
  address_forbidden: [
    ['a private address', () => resolving(async () => ['10.0.0.1'])],
    ['a URL that is not public', () => postTo(localClient(), new URL('https://10.0.0.1/'))],
    ['a URL of another scheme', () => postTo(localClient(), new URL('http://example.com/'))],
    [
      'a blocked host',
      () => resolving(async () => ['127.0.0.1'], { policy: { loopback: 'allow', blocks: () => true } }),
    ],
    [
      'a blocked address',
      () =>
        resolving(async () => ['127.0.0.1'], {
          policy: { loopback: 'allow', blocks: (host) => host === '127.0.0.1' },
        }),
    ],
  ],
  invalid_response: [
    ['another protocol', () => writing('SSH-2.0-OpenSSH_9.9\r\n')],
    ['large headers', () => writing(`${HEADERS}x: ${'y'.repeat(20_000)}\r\n\r\n`)],
    ['interim responses', () => writing('HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(50))],
  ],
};

describe('a failed attempt has one code', () => {
  const all = Object.entries(FAILURES).flatMap(([code, failures]) =>
    failures.map(([what, fail]) => [code, what, fail] as const),
  );

  it.each(all)('%s: %s', async (errorCode, _what, fail) => {
    const { send } = aSender({ result: fail() });
    expect(await send(claimed(), endpoint, event, ignore)).toMatchObject({
      errorCode,
      error: expect.stringMatching(/./),
    });
  });

  it.each([...Object.keys(SIMULATED_FAILURES), 'timeout', '503', '302'])(
    'at a simulated receiver too: %s',
    async (word) => {
      const { send, states } = aSender();
      states.makeSandbox(endpoint.orgId);
      const url = `https://example.com/?simulate=${word}`;
      const outcome = await send(claimedInSandbox(), { ...endpoint, url }, event, ignore);
      const code = { 503: 'http_status', 302: 'redirect', timeout: 'timeout' }[word];
      expect(outcome.errorCode).toBe(code ?? Object(SIMULATED_FAILURES)[word].errorCode);
      expect(outcome.error).toBeDefined();
    },
  );
});
