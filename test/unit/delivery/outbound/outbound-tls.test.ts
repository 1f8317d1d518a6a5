import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { selfSigned, testAuthority } from './certificates.ts';
import {
  authority,
  certificate,
  httpsReceiver,
  localClient,
  postTo,
  type Receiver,
  tcpReceiver,
} from './receivers.ts';

const DAY = 24 * 60 * 60 * 1000;

describe('the certificate of a receiver', () => {
  let requests = 0;

  async function errorWith(
    tls: object,
    options: Parameters<typeof localClient>[0] = {},
  ): Promise<string | undefined> {
    requests = 0;
    const receiver = await httpsReceiver((_request, response) => {
      requests += 1;
      response.end();
    }, tls);
    const result = await postTo(localClient(options), receiver.url('receiver.example.com'));
    return result.kind === 'failed' ? result.error : undefined;
  }

  it('is accepted from a trusted authority, for the requested name', async () => {
    expect(await errorWith(certificate)).toBeUndefined();
    expect(requests).toBe(1);
  });

  it.each([
    [
      'is self-signed',
      () => selfSigned('receiver.example.com'),
      'TLS certificate is not trusted (self-signed)',
    ],
    [
      'comes from an unknown authority',
      async () => (await testAuthority()).issue({ names: ['receiver.example.com'] }),
      'TLS certificate is not trusted (unknown issuer or incomplete chain)',
    ],
    [
      'is for another name',
      () => authority.issue({ names: ['other.example.com'] }),
      'TLS certificate does not name this host',
    ],
    [
      'is for the address and not for the name',
      () => authority.issue({ addresses: ['127.0.0.1'] }),
      'TLS certificate does not name this host',
    ],
    [
      'has expired',
      () => authority.issue({ names: ['receiver.example.com'], until: new Date(Date.now() - DAY / 2) }),
      'TLS certificate has expired',
    ],
    [
      'is not yet valid',
      () => authority.issue({ names: ['receiver.example.com'], from: new Date(Date.now() + DAY / 2) }),
      'TLS certificate is not valid yet',
    ],
    [
      'is for clients only',
      () => authority.issue({ names: ['receiver.example.com'], usage: 'clients' }),
      'TLS certificate is not for servers',
    ],
    [
      'has a weak key',
      async () => ({
        ...(await authority.issue({ names: ['receiver.example.com'], isWeak: true })),
        ciphers: 'DEFAULT:@SECLEVEL=0',
      }),
      'TLS certificate is not trusted (weak key or signature, or another fault)',
    ],
  ])('is refused when it %s, and nothing is sent', async (_what, issue, error) => {
    expect(await errorWith(await issue())).toBe(error);
    expect(requests).toBe(0);
  });

  it('is verified regardless of the environment', async () => {
    const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    onTestFinished(() => {
      vi.unstubAllEnvs();
      warned.mockRestore();
    });
    expect(await errorWith(await selfSigned('receiver.example.com'))).toMatch(/not trusted/);
    expect(requests).toBe(0);
    // Node read the variable, and would have obeyed it.
    expect(warned).toHaveBeenCalledWith(expect.stringContaining('NODE_TLS_REJECT_UNAUTHORIZED'));
  });

  it('is compared with the address when the URL has one', async () => {
    const receiver = await httpsReceiver((_request, response) => response.end());
    expect(await postTo(localClient(), receiver.url('127.0.0.1'))).toMatchObject({ kind: 'answered' });

    const tls = await authority.issue({ names: ['localhost'] });
    const other = await httpsReceiver((_request, response) => response.end(), tls);
    expect(await postTo(localClient(), other.url('127.0.0.1'))).toMatchObject({
      kind: 'failed',
      error: 'TLS certificate does not name this host',
    });
  });
});

describe('TLS', () => {
  it('is at least version 1.2', async () => {
    const tls = {
      ...certificate,
      minVersion: 'TLSv1.1',
      maxVersion: 'TLSv1.1',
      ciphers: 'DEFAULT:@SECLEVEL=0',
    };
    const receiver = await httpsReceiver((_request, response) => response.end(), tls as object);
    expect(await postTo(localClient(), receiver.url())).toMatchObject({
      kind: 'failed',
      error: expect.stringMatching(/^TLS handshake failed/),
    });
  });

  it('is required: a receiver of plain HTTP receives no request', async () => {
    const seen: Buffer[] = [];
    const receiver = await tcpReceiver((socket) => {
      socket.on('data', (chunk) => {
        seen.push(chunk);
        socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
      });
    });
    expect(await postTo(localClient(), receiver.url())).toMatchObject({
      kind: 'failed',
      error: expect.stringMatching(/^TLS handshake failed/),
    });
    expect(Buffer.concat(seen).toString('latin1')).not.toContain('POST');
  });
});

const program = join(import.meta.dirname, 'post-once.ts');

async function inChild(how: 'guarded' | 'default', receiver: Receiver, proxy: Receiver): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'outbound-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const authorities = join(directory, 'authority.pem');
  await writeFile(authorities, authority.cert);

  const proxyUrl = `http://127.0.0.1:${proxy.port}`;
  const env = {
    NODE_EXTRA_CA_CERTS: authorities,
    NODE_USE_ENV_PROXY: '1',
    HTTPS_PROXY: proxyUrl,
    ALL_PROXY: proxyUrl,
  };
  const { stdout } = await promisify(execFile)(process.execPath, [program, receiver.url().href, how], {
    env,
  });
  return stdout;
}

describe('the environment of the process', () => {
  it('can add a trusted authority to a post, but no proxy', async () => {
    const receiver = await httpsReceiver((_request, response) => response.writeHead(204).end());
    const proxy = await tcpReceiver((socket) => socket.destroy());

    expect(JSON.parse(await inChild('guarded', receiver, proxy))).toMatchObject({
      kind: 'answered',
      status: 204,
    });
    expect(receiver.connections).toBe(1);
    expect(proxy.connections).toBe(0);
  });

  it('adds a proxy for other requests', async () => {
    const receiver = await httpsReceiver((_request, response) => response.writeHead(204).end());
    const proxy = await tcpReceiver((socket) => socket.destroy());

    await inChild('default', receiver, proxy);
    expect(receiver.connections).toBe(0);
    expect(proxy.connections).toBe(1);
  });
});
