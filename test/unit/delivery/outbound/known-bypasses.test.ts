import { until } from 'aws-local/test/until.ts';
import { describe, expect, it } from 'vitest';
import { checkReceiverUrl } from '../../../../functions/receivers/receiver-url.ts';
import { guardedClient } from './guarded.ts';
import { pour } from './hostile-writes.ts';
import type { Zone } from './name-server.ts';
import { httpsReceiver, localClient, postTo, rawReceiver } from './receivers.ts';

const refuse = { loopback: 'refuse' } as const;
const NAME = 'receiver.example.com';
const PUBLIC = '93.184.215.14';

async function expectRefused(url: string, zone: Zone = { '*': { A: [PUBLIC] } }): Promise<void> {
  const receiver = await httpsReceiver((_request, response) => response.writeHead(204).end());
  const { attempts, client } = await guardedClient(zone, receiver);
  expect(await postTo(client, new URL(url))).toMatchObject({ kind: 'failed' });
  expect(attempts).toEqual([]);
}

describe('the guard against bypasses that other services had', () => {
  it.each(['[::1]', '[0:0:0:0:0:0:0:1]', '[fd00:ec2::254]', '[fe80::1]', '[fc00::1]'])(
    'judges an IPv6 literal with and without its brackets: %s',
    async (host) => {
      expect(checkReceiverUrl(`https://${host}/`, refuse)).toMatchObject({ ok: false });
      await expectRefused(`https://${host}/`);
      await expectRefused(`https://${host}:8443/`);
      await expectRefused(`https://${NAME}/`, { [NAME]: { AAAA: [host.slice(1, -1)] } });
    },
  );

  it.each(['[localhost]', '[127.0.0.1]', '[metadata.google.internal]', '[example.com]'])(
    'refuses brackets around anything else: %s',
    (host) => {
      expect(checkReceiverUrl(`https://${host}/`, refuse)).toMatchObject({ ok: false });
      expect(URL.canParse(`https://${host}/`)).toBe(false);
    },
  );

  it.each(['::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:169.254.169.254', '::ffff:10.0.0.1', '::FFFF:A00:1'])(
    'refuses an IPv4-mapped address, in a URL and from a name server: %s',
    async (address) => {
      await expectRefused(`https://[${address}]/`);
      await expectRefused(`https://${NAME}/`, { [NAME]: { AAAA: [address] } });
      await expectRefused(`https://${NAME}/`, { [NAME]: { A: [PUBLIC], AAAA: [address] } });
    },
  );

  it.each([
    '169.254.169.254',
    '169.254.170.2',
    '100.100.100.200',
    '168.63.129.16',
    '192.0.0.192',
    'fd00:ec2::254',
    'fd20:ce::254',
    'fe80::a9fe:a9fe',
  ])('refuses a metadata service, by address and by a name that leads to it: %s', async (address) => {
    const isIPv6 = address.includes(':');
    await expectRefused(`https://${isIPv6 ? `[${address}]` : address}/latest/meta-data/`);
    await expectRefused(`https://${NAME}/`, { [NAME]: { [isIPv6 ? 'AAAA' : 'A']: [address] } });
  });

  it('refuses a metadata service by its own name', async () => {
    const zone = { 'metadata.google.internal': { A: [PUBLIC] } };
    await expectRefused('https://metadata.google.internal/computeMetadata/v1/', zone);
    await expectRefused('https://METADATA.google.internal:8443/', zone);
  });

  it.each([301, 302, 303, 307, 308])(
    'takes a redirect (%i) to the metadata service as the answer, without following it',
    async (status) => {
      const receiver = await httpsReceiver((_request, response) => {
        response.writeHead(status, { location: 'https://169.254.169.254/latest/meta-data/' }).end();
      });
      const { attempts, client } = await guardedClient({ [NAME]: { A: [PUBLIC] } }, receiver);
      expect(await postTo(client, new URL(`https://${NAME}/`))).toMatchObject({ kind: 'answered', status });
      expect(attempts).toEqual([{ address: PUBLIC, port: 443 }]);
    },
  );

  it("stores only the status and the first KiB of a refused attempt's response", async () => {
    const secrets = '{"AccessKeyId":"..."}'.repeat(100);
    const success = await httpsReceiver((_request, response) => response.end(secrets));
    expect(await postTo(localClient(), success.url())).toMatchObject({ status: 200, body: '' });

    const refusal = await httpsReceiver((_request, response) => {
      response.writeHead(403, { 'set-cookie': 'session=1' }).end(secrets);
    });
    const result = await postTo(localClient(), refusal.url());
    expect(result).toMatchObject({ status: 403, body: secrets.slice(0, 1024) });
    expect(JSON.stringify(result)).not.toContain('session');
  });

  it('cuts off a body without reading it to the end', async () => {
    let poured = 0;
    const receiver = await rawReceiver((socket) => {
      socket.write('HTTP/1.1 500 Internal Server Error\r\n\r\n');
      pour(socket, 'x'.repeat(64 * 1024));
      socket.on('close', () => {
        poured = socket.bytesWritten;
      });
    });
    const result = await postTo(localClient(), receiver.url());
    expect(result).toMatchObject({ kind: 'answered', status: 500, body: 'x'.repeat(1024) });
    await until('the receiver to pour', () => poured > 0, 25_000);
    // Most of what was written is in the kernel's buffers.
    expect(poured).toBeLessThan(16 * 1024 * 1024);
  });
});
