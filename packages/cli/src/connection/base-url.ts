import { CommandError } from '../errors.ts';

/** Hosts that are this machine, to which a key needs no encryption. */
const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;

/** The URL without `/api/v1`. */
export const baseUrlOf = ({ origin, pathname }: URL): string =>
  `${origin}${pathname.replace(/\/+$/, '').replace(/\/api(\/v1)?$/, '')}`;

/**
 * Reads a base URL of an environment variable.
 * @throws CommandError naming it
 */
export function parseBaseUrl(text: string, name: string): string {
  const url = URL.parse(text);
  if (url === null || !['http:', 'https:'].includes(url.protocol))
    throw new CommandError('USAGE', `${name} must be an http or https URL.`);
  return baseUrlOf(url);
}

/** @throws CommandError when a key would be sent unencrypted to another machine */
export function requireEncryption(baseUrl: string): void {
  const { protocol, hostname } = new URL(baseUrl);
  if (protocol !== 'https:' && !LOOPBACK.test(hostname))
    throw new CommandError('USAGE', `${baseUrl} must be an https URL: the key would be sent unencrypted.`);
}
