import * as z from 'zod/mini';
import { getHost, isLoopbackHost, isPublicAddress, isPublicHostName } from './receiver-url.ts';

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
  const host = getHost(url);
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

const FRESH_MS = BLOCKED_HOSTS_FRESH_SECONDS * 1000;
/** After a read that failed, the known list serves for this long before it is read again. */
const RETRY_MS = 5000;

export interface BlockedHosts {
  /**
   * Reads the list unless it was read in the last 30 seconds. When it cannot be read again, the last known
   * list stays in force.
   * @throws whatever the first read throws: nothing is sent before the list is known
   */
  refresh(): Promise<void>;
  /** Whether the list has a host or a name above it; everything is blocked before the list is known. */
  blocks(host: string): boolean;
}

/** The hosts that the operator has blocked, as an instance knows them. */
export function blockedHosts(
  load: () => Promise<readonly Pick<BlockedHost, 'host'>[]>,
  now = Date.now,
): BlockedHosts {
  let known: ReadonlySet<string> | undefined;
  let freshUntil = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;

  async function read(): Promise<void> {
    // From before the read: what is blocked while it runs may not be in its answer.
    const startedAt = now();
    try {
      known = new Set((await load()).map(({ host }) => host));
      freshUntil = startedAt + FRESH_MS;
    } catch (error) {
      if (known === undefined) throw error;
      freshUntil = startedAt + RETRY_MS;
    }
  }

  return {
    async refresh() {
      if (now() < freshUntil) return;
      reading ??= read().finally(() => {
        reading = undefined;
      });
      await reading;
    },
    blocks: (host) => known === undefined || isBlocked(host, known),
  };
}
