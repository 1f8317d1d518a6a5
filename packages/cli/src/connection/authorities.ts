import { rootCertificates } from 'node:tls';
import { readIfPresent } from 'terminal/files.ts';
import type { LocalEnvironment } from 'terminal/local-run/environment-file.ts';

/** A receiver on this machine may use the local run's certificate. */
export async function authoritiesFor(
  to: URL,
  environment: LocalEnvironment | undefined,
): Promise<string[] | undefined> {
  const isHere = ['localhost', '127.0.0.1'].includes(to.hostname);
  if (to.protocol !== 'https:' || !isHere || environment === undefined) return undefined;
  const authority = await readIfPresent(environment.CA_FILE);
  return authority === undefined ? undefined : [...rootCertificates, authority];
}
