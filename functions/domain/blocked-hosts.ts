import * as z from 'zod/mini';
import { hostOf, isLoopbackHost, isPublicAddress, isPublicHostName } from './receiver-url.ts';

/** How old an instance's list of blocked hosts may be when a request is sent. Seconds. */
export const BLOCKED_HOSTS_FRESH_SECONDS = 30;

/** A host to which nothing is sent, and nothing below its name, because the operator says so. */
export const BlockedHost = z.object({
  /** A name in lower case and punycode, or an address in canonical form; see `hostOf`. */
  host: z.string(),
  reason: z.optional(z.string()),
  blockedAt: z.iso.datetime(),
});
export type BlockedHost = z.infer<typeof BlockedHost>;

/**
 * The host that an operator means, in the form in which hosts are compared. Undefined when it can be no
 * receiver's.
 */
export function parseHost(text: string): string | undefined {
  const literal = text.includes(':') && !text.startsWith('[') ? `[${text}]` : text;
  if (/[\s/?#@\\]/.test(literal)) return undefined;
  const url = URL.parse(`https://${literal}`);
  if (url === null || url.port !== '') return undefined;
  const host = hostOf(url);
  return isPublicHostName(host) || isPublicAddress(host) || isLoopbackHost(host) ? host : undefined;
}

/**
 * Whether a host, or a name above it, is blocked.
 * @param host as `hostOf` gives it, or an address as a resolver states it
 */
export function isBlocked(host: string, blocked: ReadonlySet<string>): boolean {
  if (blocked.size === 0) return false;
  if (blocked.has(host)) return true;
  // No name is above an address.
  if (isPublicAddress(host) || isLoopbackHost(host)) return false;
  for (let dot = host.indexOf('.'); dot !== -1; dot = host.indexOf('.', dot + 1))
    if (blocked.has(host.slice(dot + 1))) return true;
  return false;
}
