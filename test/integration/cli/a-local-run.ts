import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeEnvironmentFile } from 'terminal/local-run/environment-file.ts';
import { expect, onTestFinished } from 'vitest';
import { ensureCertificates } from '../../../lib/local-run/certificates/certificate-files.ts';
import { startCommand } from './conversations.ts';
import { type FakeEndpoint, startFakeApi } from './fake-api.ts';
import { temporaryDirectory } from './temporary-directory.ts';

/** A directory as `npm start` leaves it, with a fake of the API that it names. */
export async function aLocalRun() {
  const directory = join(await temporaryDirectory(), 'local');
  await mkdir(directory);
  const certificates = await ensureCertificates(directory, new Date());
  const ca = await readFile(certificates.caFile, 'utf8');
  const api = await startFakeApi({ ca: () => ca });
  onTestFinished(() => api.stop());
  await writeEnvironmentFile(join(directory, 'env'), {
    BASE_URL: api.url,
    API_KEY: api.key,
    ORG_ID: 'org_fake',
    CA_FILE: certificates.caFile,
    RECEIVER_CERT_FILE: certificates.receiverCertFile,
    RECEIVER_KEY_FILE: certificates.receiverKeyFile,
  });
  const variables = { LOCAL_DIR: directory, XDG_CONFIG_HOME: directory };
  const listen = (...args: string[]) => startCommand(['listen', ...args], { variables, cwd: directory });
  const onlyEndpoint = (): FakeEndpoint => {
    const [endpoint] = api.endpoints.values();
    return endpoint ?? expect.unreachable('nothing is registered');
  };
  return { api, directory, listen, onlyEndpoint };
}
