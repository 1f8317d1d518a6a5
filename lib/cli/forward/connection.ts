import { LocalRunError } from 'aws-local/errors.ts';
import type { LocalEnvironment } from '../environment-file.ts';
import type { Variables } from '../start/settings.ts';
import { baseUrlOf } from './arguments.ts';

/** API and key of the followed sandbox. */
export interface Connection {
  /** Without `/api/v1`. */
  baseUrl: string;
  key: string;
}

/**
 * Selects the API and key: the given ones, else the local run's. The local run's key is sent to its own API
 * only.
 * @param given options of the command line
 * @param local undefined when the local run was never started
 * @param place names the local run's file in messages
 * @throws LocalRunError when one is missing or not a sandbox's
 */
export function connectionOf(
  given: string | undefined,
  variables: Variables,
  local: LocalEnvironment | undefined,
  place: string,
): Connection {
  const fromEnvironment = variables.BASE_URL ? readBaseUrl(variables.BASE_URL) : undefined;
  const baseUrl = given ?? fromEnvironment ?? local?.BASE_URL;
  if (baseUrl === undefined) {
    throw new LocalRunError(
      `Which API? Give --base-url or BASE_URL, or start the local run (npm start): there is no ${place}.`,
    );
  }
  const localKey = local?.BASE_URL === baseUrl ? local.SANDBOX_API_KEY : undefined;
  const key = variables.SANDBOX_API_KEY || localKey;
  if (key === undefined) {
    throw new LocalRunError(
      `Set SANDBOX_API_KEY to a key of the sandbox at ${baseUrl}: an admin gets one from POST /api/settings/sandbox/provision.`,
    );
  }
  if (key.startsWith('ck_live_')) {
    throw new LocalRunError(
      'SANDBOX_API_KEY is a live key: only deliveries of a sandbox are forwarded, with its key (ck_sandbox_…).',
    );
  }
  // Checked because invalid characters could not be sent in a header.
  if (!/^ck_sandbox_[\w-]+$/.test(key)) {
    throw new LocalRunError('SANDBOX_API_KEY must be a key of a sandbox: ck_sandbox_….');
  }
  return { baseUrl, key };
}

/** @throws LocalRunError */
function readBaseUrl(text: string): string {
  const url = URL.parse(text);
  if (url === null || !['http:', 'https:'].includes(url.protocol))
    throw new LocalRunError('BASE_URL must be an http or https URL.');
  return baseUrlOf(url);
}
