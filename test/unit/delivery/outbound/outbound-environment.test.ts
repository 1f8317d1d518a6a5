import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { authority, httpsReceiver, type Receiver, tcpReceiver } from './receivers.ts';

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
  }, 20_000);

  it('adds a proxy for other requests', async () => {
    const receiver = await httpsReceiver((_request, response) => response.writeHead(204).end());
    const proxy = await tcpReceiver((socket) => socket.destroy());

    await inChild('default', receiver, proxy);
    expect(receiver.connections).toBe(0);
    expect(proxy.connections).toBe(1);
  }, 20_000);
});
