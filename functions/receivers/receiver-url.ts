import ipaddr from 'ipaddr.js';
import * as z from 'zod/mini';
import { refreshedValue } from '../aws/cache.ts';
import { expression } from '../aws/expression.ts';
import { Timestamp } from '../aws/ids.ts';
import { put, queryAll, readRows, remove, type Table } from '../aws/table.ts';
import { keys } from '../tenancy/keys.ts';
import { parseUrlText, type UrlFault } from './url-text.ts';

/** Hosts that deliveries may be sent to. */
export interface ReceiverPolicy {
  /** `allow` adds `localhost`, 127.0.0.0/8 and ::1; only the local run sets it. */
  loopback: 'refuse' | 'allow';
  /** `refuse` where the service has no route to IPv6 addresses. */
  ipv6?: 'refuse' | 'allow';
  /** Whether the operator has blocked a host or an address. */
  blocks?(host: string): boolean;
}

/** Its `problem` begins with the name of the field. */
export type ReceiverUrlCheck = ReturnType<typeof parseUrlText>;

/**
 * Decides whether deliveries may be sent to a URL.
 * It checks the result of the WHATWG URL parser, which is where a request would go: the parser converts
 * decimal, octal, hexadecimal, short and full-width IPv4, and lower-cases and punycodes names.
 * A name that passes is checked again when it is resolved.
 */
export function checkReceiverUrl(text: string, policy: ReceiverPolicy): ReceiverUrlCheck {
  const parsed = parseUrlText(text);
  if (!parsed.ok) return { ...parsed, problem: `url ${parsed.problem}` };
  const refuse = (code: UrlFault['code'], problem: string) => ({ ok: false, code, problem }) as const;
  if (!isReceiverHost(parsed.url.hostname, policy))
    return refuse('url_host', 'url must have a public host name or public address');
  if (policy.ipv6 === 'refuse' && parsed.url.hostname.startsWith('['))
    return refuse('url_host', 'url must not have an IPv6 address: this service sends over IPv4 only');
  if (policy.blocks?.(getHost(parsed.url)))
    return refuse('url_blocked', 'url has a host that the operator of this service has blocked');
  return parsed;
}

/** Whether a delivery may connect to an address. It must hold for every address of a name. */
export function isReceiverAddress(address: string, policy: ReceiverPolicy): boolean {
  return isPublicAddress(address) || (policy.loopback === 'allow' && isLoopbackAddress(address));
}

/** Returns the host as counted and blocked: lower case and punycode, without port, brackets and final dot. */
export const getHost = ({ hostname }: Pick<URL, 'hostname'>): string =>
  hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');

/** Whether a host is this machine, which only the local run allows. */
export const isLoopbackHost = (host: string): boolean => host === 'localhost' || isLoopbackAddress(host);

function isReceiverHost(hostname: string, policy: ReceiverPolicy): boolean {
  const address = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  if (isReceiverAddress(address, policy)) return true;
  if (policy.loopback === 'allow' && isLoopbackHost(hostname)) return true;
  // An IPv4 or bracketed IPv6 address fails here: its last label is not a top-level label.
  return isPublicHostName(hostname);
}

/** RFC 1035, without the final dot. */
const MAX_NAME_LENGTH = 253;

/** RFC 1123 has no underscore in host names, but names below wildcard certificates have, and resolve. */
const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;
const TOP_LEVEL_LABEL = /^(?:[a-z]{2,63}|xn--[a-z0-9-]{1,59})$/;

/**
 * Top-level names without public hosts: the special-use registry (RFC 6761 `localhost`, `test`, `invalid`,
 * `example`; RFC 6762 `local`; RFC 7686 `onion`; RFC 9476 `alt`; `arpa` with RFC 8375 `home.arpa`),
 * `internal` as reserved by ICANN, the private names of RFC 6762 appendix G, `mail`, which ICANN never
 * delegates, and `localdomain`. `example.com` and its siblings are ordinary public names.
 */
const PRIVATE_TOP_LEVEL_LABELS: ReadonlySet<string> = new Set([
  'alt',
  'arpa',
  'corp',
  'example',
  'home',
  'internal',
  'intranet',
  'invalid',
  'lan',
  'local',
  'localdomain',
  'localhost',
  'mail',
  'onion',
  'private',
  'test',
]);

/**
 * Whether a name can be a host in public DNS. Where it leads is known only when it is resolved.
 * @param name lower case and punycode, from the WHATWG URL parser
 */
export function isPublicHostName(name: string): boolean {
  if (name.length > MAX_NAME_LENGTH) return false;
  const labels = name.split('.');
  const topLevel = labels.at(-1) ?? '';
  return (
    labels.length >= 2 &&
    labels.every((label) => LABEL.test(label)) &&
    TOP_LEVEL_LABEL.test(topLevel) &&
    !PRIVATE_TOP_LEVEL_LABELS.has(topLevel)
  );
}

/** Azure's metadata service, resolver and health probe: the one metadata address that is global unicast. */
const AZURE_WIRE_SERVER = '168.63.129.16';

/**
 * Whether an address is a public unicast address.
 * Fails closed: text that is not one canonical address (octal or short IPv4, a zone id, a host name) is not
 * public. Addresses that embed another one (IPv4-mapped, IPv4-compatible, NAT64, 6to4, Teredo, ISATAP) are
 * never public, because no receiver needs them and translators read them differently.
 * Source: the IANA IPv4 and IPv6 special-purpose address registries (RFC 6890).
 * @param address dotted IPv4 or unbracketed IPv6, from a resolver or a socket
 */
export function isPublicAddress(address: string): boolean {
  if (isPlainIPv4(address))
    return ipaddr.IPv4.parse(address).range() === 'unicast' && address !== AZURE_WIRE_SERVER;
  if (!isPlainIPv6(address)) return false;
  const ipv6 = ipaddr.IPv6.parse(address);
  return isGlobalUnicast(ipv6) && !isIsatap(ipv6) && ipv6.range() === 'unicast';
}

/** Whether an address is in 127.0.0.0/8 or is ::1. Mapped and other embedding forms are not. */
export function isLoopbackAddress(address: string): boolean {
  if (isPlainIPv4(address)) return ipaddr.IPv4.parse(address).range() === 'loopback';
  return isPlainIPv6(address) && ipaddr.IPv6.parse(address).range() === 'loopback';
}

/** The library throws and catches an error for text of another form, 0.03 ms for each host name. */
const FOUR_PARTS = /^\d+(?:\.\d+){3}$/;

const isPlainIPv4 = (address: string): boolean =>
  FOUR_PARTS.test(address) && ipaddr.IPv4.isValidFourPartDecimal(address);

const isPlainIPv6 = (address: string): boolean => !address.includes('%') && ipaddr.IPv6.isValid(address);

/** Only 2000::/3 is global unicast (RFC 4291). ipaddr.js calls every unknown range "unicast". */
const isGlobalUnicast = (address: ipaddr.IPv6): boolean => address.match(ipaddr.IPv6.parse('2000::'), 3);

/** ISATAP (RFC 5214) embeds an IPv4 address behind the identifier `[0200:]5efe`, under any prefix. */
function isIsatap(address: ipaddr.IPv6): boolean {
  const [, , , , high, low] = address.parts;
  return low === 0x5efe && (high === 0 || high === 0x0200);
}

/** Maximum age of the list when a request is sent. Seconds. */
export const BLOCKED_HOSTS_FRESH_SECONDS = 30;

/** A host that the operator has blocked. It and its subdomains receive nothing. */
export const BlockedHost = z.object({
  /** A name in lower case and punycode, or an address in canonical form; see `getHost`. */
  host: z.string(),
  reason: z.optional(z.string()),
  blockedAt: Timestamp,
});
export type BlockedHost = z.infer<typeof BlockedHost>;

/**
 * Whether a host, or a parent domain of it, is blocked.
 * @param host as `getHost` returns it, or an address as a resolver returns it
 */
export function isBlocked(host: string, blocked: ReadonlySet<string>): boolean {
  if (blocked.size === 0) return false;
  if (blocked.has(host)) return true;
  // An address has no parent domain.
  if (isPublicAddress(host) || isLoopbackHost(host)) return false;
  for (let dot = host.indexOf('.'); dot !== -1; dot = host.indexOf('.', dot + 1))
    if (blocked.has(host.slice(dot + 1))) return true;
  return false;
}

/** Caches the blocked hosts in an instance. */
export function blockedHosts(load: () => Promise<readonly Pick<BlockedHost, 'host'>[]>, now = Date.now) {
  const list = refreshedValue<ReadonlySet<string>>(
    async () => new Set((await load()).map(({ host }) => host)),
    { freshMs: BLOCKED_HOSTS_FRESH_SECONDS * 1000, retryMs: 5000, now },
  );
  return {
    /**
     * Reads the list unless it was read in the last 30 seconds. When that fails, the cached list stays in
     * use.
     * @throws the error of the first read: nothing is sent before the list is known
     */
    async refresh(): Promise<void> {
      await list.get();
    },

    /** The list, read as by `refresh`. */
    async list(): Promise<string[]> {
      return [...(await list.get())];
    },

    /** Whether a host or a parent domain is blocked. Every host is blocked before the list is known. */
    blocks(host: string): boolean {
      const blocked = list.peek();
      return blocked === undefined || isBlocked(host, blocked);
    },
  };
}

/** Hosts that the operator blocked, in one partition. */
export function blockedHostStore(service: Table) {
  return {
    async all(): Promise<BlockedHost[]> {
      const rows = await queryAll(service, { where: expression`pk = ${keys.blockedHosts()}` });
      return readRows(service, rows, (row) => BlockedHost.parse(row));
    },

    /** Blocks a host, or replaces its reason. */
    async block(host: BlockedHost): Promise<void> {
      await put(service, { ...keys.blockedHost(host.host), ...host });
    },

    async unblock(host: string): Promise<void> {
      await remove(service, keys.blockedHost(host));
    },
  };
}
