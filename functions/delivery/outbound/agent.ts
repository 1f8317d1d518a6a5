import { Resolver } from 'node:dns/promises';
import { Agent } from 'node:https';
import { isIP, type LookupFunction, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { isReceiverAddress, type ReceiverPolicy } from '../../receivers/receiver-url.ts';
import { type AttemptError, type AttemptErrorCode, timedOutAfter } from '../delivery.ts';

/** Returns all addresses of a host name; rejects or returns none when there are none. */
export type Resolve = (host: string) => Promise<string[]>;

/** An address of the host is not allowed for deliveries. */
class ForbiddenAddressError extends Error {
  override readonly name = 'ForbiddenAddressError';
}

/** The operator has blocked an address of the host. */
class BlockedAddressError extends Error {
  override readonly name = 'BlockedAddressError';
}

/** The host has IPv6 addresses only, and the policy refuses these. */
class OnlyIPv6Error extends Error {
  override readonly name = 'OnlyIPv6Error';
}

/** The host has no address, or the name servers failed. */
export class ResolutionError extends Error {
  override readonly name = 'ResolutionError';
  /** Whether the name is known to have no address; false when a name server failed. */
  readonly nameIsUnknown: boolean;

  constructor(nameIsUnknown: boolean, options?: ErrorOptions) {
    super('the host name was not resolved', options);
    this.nameIsUnknown = nameIsUnknown;
  }
}

/**
 * `lookup` for connections; returns checked addresses only. The connection uses exactly these, so a name that
 * resolves differently the next time gains nothing. Node does not call it for literal addresses, which {@link
 * checkReceiverUrl} checks.
 */
export function guardedLookup(resolve: Resolve, policy: ReceiverPolicy): LookupFunction {
  return (host, options, callback) => {
    resolveCheckedAddresses(host, resolve, policy).then(
      ([first, ...others]) => {
        if (options.all) callback(null, [first, ...others]);
        else callback(null, first.address, first.family);
      },
      (error: Error) => callback(error, []),
    );
  };
}

interface CheckedAddress {
  address: string;
  family: number;
}

/**
 * Addresses tried per family. Without a limit, a name with a thousand addresses would cause a thousand
 * connections to third parties for one delivery.
 */
const MAX_ADDRESSES_PER_FAMILY = 4;

/** One forbidden address refuses the whole name: the network chooses which address is used. */
async function resolveCheckedAddresses(
  host: string,
  resolve: Resolve,
  policy: ReceiverPolicy,
): Promise<[CheckedAddress, ...CheckedAddress[]]> {
  const addresses = await resolve(host).catch((cause: unknown) => {
    throw new ResolutionError(isUnknownName(cause), { cause });
  });
  if (!addresses.every((address) => isReceiverAddress(address, policy)))
    throw new ForbiddenAddressError('the host name leads to an address that deliveries may not go to');
  if (addresses.some((address) => policy.blocks?.(address)))
    throw new BlockedAddressError('the host name leads to an address that the operator has blocked');

  const ipv6 = takeFirst(addresses, 6);
  const [first, ...others] = [...takeFirst(addresses, 4), ...(policy.ipv6 === 'refuse' ? [] : ipv6)];
  if (!first && ipv6.length > 0) throw new OnlyIPv6Error('the host name has IPv6 addresses only');
  if (!first) throw new ResolutionError(true);
  return [first, ...others];
}

function takeFirst(addresses: string[], family: 4 | 6): CheckedAddress[] {
  const ofFamily = new Set(addresses.filter((address) => isIP(address) === family));
  return [...ofFamily].slice(0, MAX_ADDRESSES_PER_FAMILY).map((address) => ({ address, family }));
}

const isUnknownName = (error: unknown): boolean => ['ENOTFOUND', 'ENODATA'].includes(getErrorCode(error));

/** How much later IPv6 addresses may arrive than IPv4 addresses before they are ignored. */
const IPV6_GRACE_MS = 300;

/**
 * Queries the configured name servers, or the given ones (`127.0.0.1:53`).
 * Not `dns.lookup`: it occupies one of four worker threads until the system gives up, so four names with a
 * dead name server would stall all deliveries and the SDK. It also reads the hosts file and search domains,
 * which name internal hosts.
 */
export function nameServerResolver(servers?: string[]): Resolve {
  const createResolver = () => {
    const asking = new Resolver({ timeout: 1500, tries: 3, maxTimeout: 3000 });
    if (servers) asking.setServers(servers);
    return asking;
  };

  return async (host) => {
    // `localhost` needs no name server (RFC 6761). The policy decides whether it is allowed.
    if (host === 'localhost') return ['127.0.0.1', '::1'];

    // Each query has its own socket: an invalid DNS response fails all queries of a socket.
    const ipv6 = createResolver().resolve6(host);
    const ipv6OrNone = ipv6.catch((): string[] => []);
    try {
      const ipv4 = await createResolver().resolve4(host);
      const none = delay(IPV6_GRACE_MS, [], { ref: false });
      return [...ipv4, ...(await Promise.race([ipv6OrNone, none]))];
    } catch (ipv4Failure) {
      return ipv6.catch((ipv6Failure: unknown) => {
        // One family without addresses decides nothing when the other query failed.
        throw isUnknownName(ipv4Failure) ? ipv6Failure : ipv4Failure;
      });
    }
  };
}

/** Prevents one receiver from taking all sockets of the process. */
const MAX_SOCKETS_PER_HOST = 50;
const MAX_FREE_SOCKETS_PER_HOST = 10;

/**
 * Shorter than the idle timeout of common servers (gunicorn 2 s, Apache and Node 5 s). A request on a
 * connection being closed is a failed attempt and is not repeated silently: the receiver may have processed
 * it.
 */
const MAX_IDLE_MS = 1000;

/** A changed name must be noticed even on a busy connection. */
const MAX_CONNECTION_AGE_MS = 60_000;

/** Connections to another continent take longer than Node's default of 250 ms. */
const NEXT_ADDRESS_AFTER_MS = 1000;

export interface ReceiverAgentOptions {
  lookup: LookupFunction;
  policy: ReceiverPolicy;
  now: () => number;
  /** PEM of the authorities to trust instead of Node's. */
  ca?: string | undefined;
}

/**
 * Connections to receivers: TLS with verified certificates, to addresses that the policy allows, kept
 * briefly. Ignores proxies of the environment. Pooled connections are keyed by host and port, and belong to
 * an address that was checked when they were opened.
 */
export class ReceiverAgent extends Agent {
  readonly #policy: ReceiverPolicy;
  readonly #now: () => number;
  readonly #openedAt = new WeakMap<Duplex, number>();
  readonly #idleSince = new WeakMap<Duplex, number>();

  constructor({ lookup, policy, now, ca }: ReceiverAgentOptions) {
    super({
      lookup,
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_AFTER_MS,
      keepAlive: true,
      timeout: MAX_IDLE_MS,
      maxSockets: MAX_SOCKETS_PER_HOST,
      maxFreeSockets: MAX_FREE_SOCKETS_PER_HOST,
      // Explicit, because the environment could disable verification otherwise.
      rejectUnauthorized: true,
      minVersion: 'TLSv1.2',
      ...(ca === undefined ? {} : { ca }),
    });
    this.#policy = policy;
    this.#now = now;
  }

  /**
   * Closes connections that were idle for too long; called before each request. No timer fires while Lambda
   * has the process frozen, and a connection that the receiver closed meanwhile looks alive.
   */
  closeIdle(): void {
    const newestToClose = this.#now() - MAX_IDLE_MS;
    for (const socket of Object.values(this.freeSockets).flatMap((sockets) => sockets ?? []))
      if ((this.#idleSince.get(socket) ?? newestToClose) <= newestToClose) socket.destroy();
  }

  override createConnection(...args: Parameters<Agent['createConnection']>): Duplex | null | undefined {
    const socket = super.createConnection(...args);
    if (!(socket instanceof Socket)) return socket;

    this.#openedAt.set(socket, this.#now());
    // Checks the connected address again. Prepended, so that it runs before TLS starts.
    socket.prependOnceListener('connect', () => {
      if (isReceiverAddress(socket.remoteAddress ?? '', this.#policy)) return;
      socket.destroy(new ForbiddenAddressError('connected to an address that deliveries may not go to'));
    });
    return socket;
  }

  /** Whether a connection returns to the pool after its request. */
  override keepSocketAlive(socket: Duplex): boolean {
    // Declared as void; documented to return false when the receiver announced a shorter timeout.
    const keep: unknown = super.keepSocketAlive(socket);
    const now = this.#now();
    this.#idleSince.set(socket, now);
    return keep === true && now - (this.#openedAt.get(socket) ?? 0) < MAX_CONNECTION_AGE_MS;
  }
}

export class DeadlineError extends Error {
  override readonly name = 'DeadlineError';
}

export class InterimResponsesError extends Error {
  override readonly name = 'InterimResponsesError';
}

/** The server's content cannot be used. The message is the service's own and may be shown. */
export class ContentError extends Error {
  override readonly name = 'ContentError';
  readonly code: AttemptErrorCode;

  constructor(message: string, code: AttemptErrorCode = 'invalid_response', options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/**
 * Describes in one line why there was no response. Uses error codes only: messages of Node and OpenSSL
 * contain addresses, file names and text of the receiver, and customers read the line.
 */
export function describeFailure(error: unknown, timeoutMs: number): AttemptError {
  if (error instanceof DeadlineError) return timedOutAfter(timeoutMs);
  if (error instanceof ForbiddenAddressError) return of('address_forbidden', 'address is not public');
  if (error instanceof BlockedAddressError)
    return of('address_forbidden', 'address is blocked by the operator of this service');
  if (error instanceof OnlyIPv6Error)
    return of('address_forbidden', 'host has IPv6 addresses only, and this service sends over IPv4');
  if (error instanceof ContentError) return of(error.code, error.message);
  if (error instanceof InterimResponsesError)
    return of('invalid_response', 'too many interim (1xx) responses');
  if (error instanceof ResolutionError)
    return of('dns', error.nameIsUnknown ? 'host name does not resolve' : 'host name could not be resolved');
  return describeCode(getErrorCode(error));
}

const of = (errorCode: AttemptErrorCode, error: string): AttemptError => ({ errorCode, error });

const CLOSED = of('connection_closed', 'connection closed before the response');
const UNKNOWN_ISSUER = of('tls', 'TLS certificate is not trusted (unknown issuer)');
const OTHER_HOST = of('tls', 'TLS certificate does not name this host');
const UNREACHABLE = of('connection_refused', 'network is unreachable');

/** By the codes of Node.js; those of certificates are the names of OpenSSL's verification errors. */
const ERRORS: Readonly<Record<string, AttemptError>> = {
  ECONNREFUSED: of('connection_refused', 'connection refused'),
  ECONNRESET: CLOSED,
  EPIPE: CLOSED,
  ETIMEDOUT: of('timeout', 'connection timed out'),
  EHOSTUNREACH: of('connection_refused', 'host is unreachable'),
  ENETUNREACH: UNREACHABLE,
  EADDRNOTAVAIL: UNREACHABLE,
  EPROTO: of('tls', 'TLS handshake failed'),
  CERT_HAS_EXPIRED: of('tls', 'TLS certificate has expired'),
  CERT_NOT_YET_VALID: of('tls', 'TLS certificate is not valid yet'),
  CERT_REVOKED: of('tls', 'TLS certificate is revoked'),
  DEPTH_ZERO_SELF_SIGNED_CERT: of('tls', 'TLS certificate is not trusted (self-signed)'),
  SELF_SIGNED_CERT_IN_CHAIN: of('tls', 'TLS certificate is not trusted (self-signed authority)'),
  UNABLE_TO_GET_ISSUER_CERT: UNKNOWN_ISSUER,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN_ISSUER,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: of(
    'tls',
    'TLS certificate is not trusted (unknown issuer or incomplete chain)',
  ),
  ERR_TLS_CERT_ALTNAME_INVALID: OTHER_HOST,
  HOSTNAME_MISMATCH: OTHER_HOST,
  INVALID_PURPOSE: of('tls', 'TLS certificate is not for servers'),
  INVALID_CA: of('tls', 'TLS certificate is not trusted (its issuer is no authority)'),
  PATH_LENGTH_EXCEEDED: of('tls', 'TLS certificate is not trusted (chain too long)'),
  UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY: of(
    'tls',
    'TLS certificate is not trusted (unreadable key of its issuer)',
  ),
  UNSPECIFIED: of('tls', 'TLS certificate is not trusted (weak key or signature, or another fault)'),
  HPE_HEADER_OVERFLOW: of('invalid_response', 'response headers are too large'),
};

function describeCode(code: string): AttemptError {
  const error = Object.hasOwn(ERRORS, code) ? ERRORS[code] : undefined;
  if (error !== undefined) return error;
  if (code.startsWith('HPE_')) return of('invalid_response', 'response is not valid HTTP');
  if (code.startsWith('ERR_SSL_'))
    return of('tls', `TLS handshake failed (${humanize(code.slice('ERR_SSL_'.length))})`);
  if (code.startsWith('ERR_TLS_'))
    return of('tls', `TLS failed (${humanize(code.slice('ERR_TLS_'.length))})`);
  if (/CERT|CRL|CHAIN|SIGNATURE/.test(code))
    return of('tls', `TLS certificate is not trusted (${humanize(code)})`);
  return of('connection_closed', code === '' ? 'connection failed' : `connection failed (${code})`);
}

/** Whether Node's parser refused the headers of a response, for another reason than their size. */
export function isHeaderFault(error: unknown): boolean {
  const code = getErrorCode(error);
  return code.startsWith('HPE_') && code !== 'HPE_HEADER_OVERFLOW';
}

/** `ERR_SSL_WRONG_VERSION_NUMBER` without its prefix becomes "wrong version number". */
const humanize = (code: string): string => code.toLowerCase().replaceAll('_', ' ');

/** A failure of several addresses has the code of the first one. */
function getErrorCode(error: unknown): string {
  if (!(error instanceof Error) || !('code' in error)) return '';
  return typeof error.code === 'string' && /^[A-Z0-9_]{1,80}$/.test(error.code) ? error.code : '';
}
