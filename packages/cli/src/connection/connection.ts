import { readVariable, type Variables } from 'terminal/local-run/directory.ts';
import type { LocalEnvironment } from 'terminal/local-run/environment-file.ts';
import { CommandError } from '../errors.ts';
import { parseBaseUrl, requireEncryption } from './base-url.ts';
import type { Credentials } from './credentials.ts';

/** API and key of a command. */
export interface Connection {
  /** Without `/api/v1`. */
  baseUrl: string;
  key: string;
  environment: 'live' | 'sandbox';
  /** Whether it is the local run, where the live organization is for tests, too. */
  isLocalRun: boolean;
}

export interface ConnectionSources {
  variables: Variables;
  /** Undefined when the local run was never started. */
  local: LocalEnvironment | undefined;
  credentials: Credentials;
}

/** What a command line says of the connection. */
export interface ConnectionFlags {
  baseUrl?: string | undefined;
  /** Only a sandbox's key; of the local run, its sandbox. */
  sandbox?: boolean | undefined;
}

/**
 * The API: the given one, `CONVERSATIONS_BASE_URL`, the local run, the last login.
 * @throws CommandError when there is none
 */
export function chooseBaseUrl(
  { baseUrl }: ConnectionFlags,
  { variables, local, credentials }: ConnectionSources,
): string {
  const variable = readVariable(variables, 'CONVERSATIONS_BASE_URL');
  const chosen =
    baseUrl ??
    (variable === undefined ? undefined : parseBaseUrl(variable, 'CONVERSATIONS_BASE_URL')) ??
    local?.BASE_URL ??
    credentials.current;
  if (chosen === undefined) {
    throw new CommandError(
      'NO_KEY',
      'Which API? Give --base-url or CONVERSATIONS_BASE_URL, or log in: conversations login --base-url https://…',
    );
  }
  requireEncryption(chosen);
  return chosen;
}

/**
 * API and key of a command: `CONVERSATIONS_API_KEY`, else the local run's own key for its own API, else the
 * one stored for the API. The key of one API is never sent to another.
 * @throws CommandError when one is missing, or the key is not of the environment
 */
export function chooseConnection(flags: ConnectionFlags, sources: ConnectionSources): Connection {
  const { variables, local, credentials } = sources;
  const baseUrl = chooseBaseUrl(flags, sources);
  const isLocalRun = local?.BASE_URL === baseUrl;
  const ofLocalRun = flags.sandbox ? local?.SANDBOX_API_KEY : local?.API_KEY;
  const variable = readVariable(variables, 'CONVERSATIONS_API_KEY');
  const key = variable ?? (isLocalRun ? ofLocalRun : undefined) ?? credentials.keys.get(baseUrl);
  if (key === undefined) {
    throw new CommandError(
      'NO_KEY',
      `There is no key for ${baseUrl}: run conversations login --base-url ${baseUrl}, or set CONVERSATIONS_API_KEY.`,
    );
  }
  const source = variable === undefined ? `The key for ${baseUrl}` : 'CONVERSATIONS_API_KEY';
  const environment = environmentOf(key);
  if (environment === undefined)
    throw new CommandError('NO_KEY', `${source} is not an API key: ck_live_… or ck_sandbox_….`);
  if (flags.sandbox && environment === 'live') {
    throw new CommandError(
      'NO_KEY',
      `${source} is a live key, and this needs a sandbox's (ck_sandbox_…): an admin gets one on the dashboard's page Sandbox.`,
    );
  }
  return { baseUrl, key, environment, isLocalRun };
}

/** @returns undefined for what is no key, whose characters might not be valid in a header */
export function environmentOf(key: string): Connection['environment'] | undefined {
  const [, environment] = /^ck_(live|sandbox)_[\w-]+$/.exec(key) ?? [];
  return environment === 'live' || environment === 'sandbox' ? environment : undefined;
}
