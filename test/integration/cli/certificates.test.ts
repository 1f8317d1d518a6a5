import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { connect } from 'node:tls';
import { describe, expect, it } from 'vitest';
import {
  type CertificateFiles,
  ensureCertificates,
} from '../../../lib/local-run/certificates/certificate-files.ts';
import { startReceiver } from '../../../packages/cli/src/receiver/receiver.ts';
import { temporaryDirectory } from './temporary-directory.ts';

const DAY = 24 * 60 * 60 * 1000;
const now = new Date();
const later = (days: number) => new Date(now.getTime() + days * DAY);

const contents = (files: CertificateFiles) =>
  Promise.all(
    [files.caFile, files.receiverCertFile, files.receiverKeyFile].map((path) => readFile(path, 'utf8')),
  );

async function handshake(port: number, host: string, servername: string, ca: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const socket = connect({ port, host, servername, ca }, () =>
    resolve(String(socket.getPeerCertificate().subject.CN)),
  );
  socket.on('error', reject);
  return promise.finally(() => socket.destroy());
}

describe('certificates', () => {
  it('make a server that Node.js trusts as localhost and as 127.0.0.1', async () => {
    const files = await ensureCertificates(await temporaryDirectory(), now);
    const receiver = await startReceiver(files.receiver);
    const ca = await readFile(files.caFile, 'utf8');
    expect(await handshake(receiver.port, '127.0.0.1', 'localhost', ca)).toBe('localhost');
    expect(await handshake(receiver.port, '127.0.0.1', '', ca)).toBe('localhost');
    await expect(handshake(receiver.port, '127.0.0.1', 'example.com', ca)).rejects.toThrow('altnames');
    expect(new X509Certificate(files.receiver.cert).checkIP('::1')).toBe('::1');
    await receiver.stop();
  });

  it('verify strictly with OpenSSL', async () => {
    const files = await ensureCertificates(await temporaryDirectory(), now);
    const said = execFileSync(
      'openssl',
      [
        'verify',
        '-x509_strict',
        '-purpose',
        'sslserver',
        '-verify_hostname',
        'localhost',
        '-CAfile',
        files.caFile,
        files.receiverCertFile,
      ],
      { encoding: 'utf8' },
    );
    expect(said).toContain('OK');
  });

  it('have keys that other users cannot read', async () => {
    const directory = await temporaryDirectory();
    const files = await ensureCertificates(directory, now);
    for (const path of [files.receiverKeyFile, `${directory}/ca-key.pem`]) {
      expect((await stat(path)).mode & 0o777).toBe(0o600);
    }
  });

  it('are reused by the next run', async () => {
    const directory = await temporaryDirectory();
    const first = await contents(await ensureCertificates(directory, now));
    expect(await contents(await ensureCertificates(directory, later(700)))).toEqual(first);
  });

  it('are renewed before the leaf expires, under the same authority', async () => {
    const directory = await temporaryDirectory();
    const [firstCa, firstCert] = await contents(await ensureCertificates(directory, now));
    const [ca, cert] = await contents(await ensureCertificates(directory, later(800)));
    expect(ca).toBe(firstCa);
    expect(cert).not.toBe(firstCert);
  });

  it('are all renewed before the authority expires', async () => {
    const directory = await temporaryDirectory();
    const [firstCa] = await contents(await ensureCertificates(directory, now));
    const files = await ensureCertificates(directory, later(3640));
    const ca = await readFile(files.caFile, 'utf8');
    expect(ca).not.toBe(firstCa);
    expect(new X509Certificate(files.receiver.cert).checkIssued(new X509Certificate(ca))).toBe(true);
  });

  it.each(['ca.pem', 'receiver-cert.pem', 'receiver-key.pem'])(
    'are replaced when %s is damaged',
    async (name) => {
      const directory = await temporaryDirectory();
      await ensureCertificates(directory, now);
      await writeFile(`${directory}/${name}`, 'damaged');
      const files = await ensureCertificates(directory, now);
      const [ca = ''] = await contents(files);
      expect(new X509Certificate(files.receiver.cert).verify(new X509Certificate(ca).publicKey)).toBe(true);
    },
  );
});
