import { createServer, request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import {
  type Issued,
  issueAuthority,
  issueReceiverCertificate,
} from '../../../lib/local-run/certificates/certificates.ts';
import {
  type ReceivedDelivery,
  type ReceiverOptions,
  startReceiver,
} from '../../../packages/cli/src/receiver/receiver.ts';
import { post } from './fake-api.ts';

const SECRET = 'whsec_c2VjcmV0IG9mIHRoZSB0ZXN0';
const BODY = '{"type":"conversation.created"}';
let ca: string;
let issued: Issued;

beforeAll(async () => {
  const authority = await issueAuthority(new Date());
  ca = authority.cert;
  issued = await issueReceiverCertificate(authority, new Date());
});

async function aReceiver(options: Partial<ReceiverOptions> = {}) {
  const received: ReceivedDelivery[] = [];
  const receiver = await startReceiver({
    ...issued,
    secret: SECRET,
    onDelivery: (delivery) => received.push(delivery),
    ...options,
  });
  onTestFinished(() => receiver.stop());
  return { receiver, received };
}

function signed(id: string, secret = SECRET, at = new Date()): Record<string, string> {
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(secret).sign(id, at, BODY),
  };
}

describe('receiver', () => {
  it('verifies a delivery and answers 200', async () => {
    const { receiver, received } = await aReceiver();
    expect(await post(`${receiver.url}/hook`, ca, BODY, signed('dlv_1'))).toBe(200);
    expect(received).toMatchObject([
      {
        method: 'POST',
        path: '/hook',
        headers: { 'webhook-id': 'dlv_1' },
        verification: { kind: 'verified' },
      },
    ]);
    expect(received[0]?.body.toString()).toBe(BODY);
  });

  it.each([
    ['another secret', () => signed('dlv_1', 'whsec_YW5vdGhlcg==')],
    ['another id', () => ({ ...signed('dlv_1'), 'webhook-id': 'dlv_2' })],
    ['an old timestamp', () => signed('dlv_1', SECRET, new Date(Date.now() - 600_000))],
    ['no signature at all', () => ({})],
  ])('refuses %s and says why', async (_, headers) => {
    const { receiver, received } = await aReceiver();
    await post(receiver.url, ca, BODY, headers());
    expect(received[0]?.verification).toEqual({ kind: 'refused', reason: expect.stringMatching(/./) });
  });

  it('verifies nothing without a secret', async () => {
    const { receiver, received } = await aReceiver({ secret: undefined });
    await post(receiver.url, ca, BODY, signed('dlv_1'));
    expect(received[0]?.verification).toEqual({ kind: 'unchecked' });
  });

  it('holds a delivery that comes before the secret', async () => {
    const secret = Promise.withResolvers<string>();
    const { receiver, received } = await aReceiver({ secret: secret.promise });
    const early = post(receiver.url, ca, BODY, signed('dlv_1'));
    await post(receiver.url, ca, Buffer.alloc(2 * 1024 * 1024), {}).catch(() => undefined);
    expect(received).toEqual([]);
    secret.resolve(SECRET);
    expect(await early).toBe(200);
    expect(received[0]?.verification).toEqual({ kind: 'verified' });
  });

  it('detects a sender that hangs up before the answer', async () => {
    const arrived = Promise.withResolvers<void>();
    const answered = Promise.withResolvers<unknown>();
    const { receiver } = await aReceiver({
      onDelivery: () => arrived.resolve(),
      respond: () => new Promise(() => undefined),
      onAnswered: (_, answer) => answered.resolve(answer),
    });
    const outgoing = request(receiver.url, { method: 'POST', ca, agent: false });
    outgoing.on('error', (error) => expect(error.message).toBe('changed its mind'));
    outgoing.end(BODY);
    await arrived.promise;
    outgoing.destroy(new Error('changed its mind'));
    expect(await answered.promise).toBeUndefined();
  });

  it('refuses a body larger than any of the service', async () => {
    const { receiver, received } = await aReceiver();
    const status = post(receiver.url, ca, Buffer.alloc(1024 * 1024 + 1), {});
    expect(await status).toBe(413);
    expect(received).toEqual([]);
  });

  it('reports a port that is taken', async () => {
    const holder = createServer();
    await new Promise<void>((resolve) => holder.listen(0, '127.0.0.1', resolve));
    const { port } = holder.address() as AddressInfo;
    await expect(startReceiver({ ...issued, port })).rejects.toThrow(`Port ${port} is taken`);
    await new Promise((resolve) => holder.close(resolve));
  });
});
