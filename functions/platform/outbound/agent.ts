import { Resolver } from 'node:dns/promises';
import { Agent } from 'node:https';
import { isIP, type LookupFunction, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { isReceiverAddress, type ReceiverPolicy } from '../../domain/receiver-url.ts';

/** Gives all addresses of a host name; rejects, or gives none, when there are none. */
export type Resolve = (host: string) => Promise<string[]>;

/** The host is, or has among its addresses, one that deliveries may not go to. */
export class ForbiddenAddressError extends Error {
  override readonly name = 'ForbiddenAddressError';
}

/** The host has among its addresses one that the operator has blocked. */
export class BlockedAddressError extends Error {
  override readonly name = 'BlockedAddressError';
}

/** The host has no address, or nobody could tell. */
export class ResolutionError extends Error {
  override readonly name = 'ResolutionError';
  /** Whether it is known that the name has no address, as opposed to a resolver that failed. */
  readonly nameIsUnknown: boolean;

  constructor(nameIsUnknown: boolean, options?: ErrorOptions) {
    super('the host name was not resolved', options);
    this.nameIsUnknown = nameIsUnknown;
  }
}

/**
 * The `lookup` of a connection that may go to checked addresses only. The connection then takes the very
 * addresses that were checked, so a name that leads elsewhere the next time it is asked gains nothing by it.
 *
 * Never called by Node when the host is an address already: that is {@link checkReceiverUrl}'s to judge.
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
 * What a connection tries of each family. Addresses that refuse at once are tried in one breath, so without a
 * limit a name with a thousand of them would have us knock at a thousand doors of somebody else for a single
 * delivery.
 */
const MAX_ADDRESSES_PER_FAMILY = 4;

/**
 * One forbidden address among several refuses them all: the network chooses which one a connection ends up
 * at.
 */
async function resolveCheckedAddresses(
  host: string,
  resolve: Resolve,
  policy: ReceiverPolicy,
): Promise<[CheckedAddress, ...CheckedAddress[]]> {
  const addresses = await resolve(host).catch((cause: unknown) => {
    throw new ResolutionError(isUnknownName(cause), { cause });
  });
  if (!addresses.every((address) => isReceiverAddress(address, policy))) {
    throw new ForbiddenAddressError('the host name leads to an address that deliveries may not go to');
  }
  if (addresses.some((address) => policy.blocks?.(address)))
    throw new BlockedAddressError('the host name leads to an address that the operator has blocked');

  const [first, ...others] = [...takeFirst(addresses, 4), ...takeFirst(addresses, 6)];
  if (!first) throw new ResolutionError(true);
  return [first, ...others];
}

function takeFirst(addresses: string[], family: 4 | 6): CheckedAddress[] {
  const ofFamily = new Set(addresses.filter((address) => isIP(address) === family));
  return [...ofFamily].slice(0, MAX_ADDRESSES_PER_FAMILY).map((address) => ({ address, family }));
}

function isUnknownName(error: unknown): boolean {
  return (
    error instanceof Error && 'code' in error && (error.code === 'ENOTFOUND' || error.code === 'ENODATA')
  );
}

/**
 * How long the IPv6 addresses of a name may come later than its IPv4 addresses before they are done without.
 */
const IPV6_GRACE_MS = 300;

/**
 * Asks the configured name servers, or the given ones (`127.0.0.1:53`).
 *
 * Not `dns.lookup`: that occupies one of the process's four worker threads until the system gives up, so that
 * four names with a dead name server would stall everybody's deliveries and the AWS SDK's own lookups with
 * them. It also reads the hosts file and search domains, which name hosts of the inside.
 */
export function nameServerResolver(servers?: string[]): Resolve {
  const resolver = () => {
    const asking = new Resolver({ timeout: 1500, tries: 3, maxTimeout: 3000 });
    if (servers) asking.setServers(servers);
    return asking;
  };

  return async (host) => {
    // No name server is asked for this one (RFC 6761). Whether loopback may be used is the policy's to say.
    if (host === 'localhost') return ['127.0.0.1', '::1'];

    // Each question has a socket of its own: an answer that is not valid DNS fails everything that waits on
    // its socket.
    const ipv6 = resolver().resolve6(host);
    const ipv6OrNone = ipv6.catch((): string[] => []);
    try {
      const ipv4 = await resolver().resolve4(host);
      const none = delay(IPV6_GRACE_MS, [], { ref: false });
      return [...ipv4, ...(await Promise.race([ipv6OrNone, none]))];
    } catch (ipv4Failure) {
      return ipv6.catch((ipv6Failure: unknown) => {
        // That one family has no address says nothing while nobody could tell about the other.
        throw isUnknownName(ipv4Failure) ? ipv6Failure : ipv4Failure;
      });
    }
  };
}

/** So that one receiver's name cannot take all sockets of the process. */
const MAX_SOCKETS_PER_HOST = 50;
const MAX_FREE_SOCKETS_PER_HOST = 10;

/**
 * Shorter than what common servers wait before they close an idle connection (gunicorn 2 s, Apache and Node 5
 * s). A request that meets such a close is a failed attempt, not one that is sent again behind the caller's
 * back: the receiver may have acted on it.
 */
const MAX_IDLE_MS = 1000;

/** A name that moved must be noticed even on a connection that is never idle. */
const MAX_CONNECTION_AGE_MS = 60_000;

/** Half the world away a connection takes longer than Node's default of a quarter of a second. */
const NEXT_ADDRESS_AFTER_MS = 1000;

export interface ReceiverAgentOptions {
  lookup: LookupFunction;
  policy: ReceiverPolicy;
  now: () => number;
  /** PEM of authorities to trust instead of the ones Node knows. */
  ca?: string | undefined;
}

/**
 * The connections to receivers: TLS with verified certificates, to addresses the policy permits, kept for a
 * moment. Takes no proxy from the environment, unlike the global agent. Pooled connections are told apart by
 * host and port, and belong to an address that was checked when they were opened.
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
      // Stated, because without it the environment could switch verification off.
      rejectUnauthorized: true,
      minVersion: 'TLSv1.2',
      ...(ca === undefined ? {} : { ca }),
    });
    this.#policy = policy;
    this.#now = now;
  }

  /**
   * Closes what has been idle for too long. To be called before each request: when the platform freezes the process
   * between invocations, no timer fires, and the connection that the receiver closed meanwhile looks alive.
   */
  closeIdle(): void {
    const newestToClose = this.#now() - MAX_IDLE_MS;
    for (const socket of Object.values(this.freeSockets).flatMap((sockets) => sockets ?? [])) {
      if ((this.#idleSince.get(socket) ?? newestToClose) <= newestToClose) socket.destroy();
    }
  }

  override createConnection(...args: Parameters<Agent['createConnection']>): Duplex | null | undefined {
    const socket = super.createConnection(...args);
    if (!(socket instanceof Socket)) return socket;

    this.#openedAt.set(socket, this.#now());
    // A second check, of what really was connected to. Prepended, so that it comes before the first byte of
    // TLS.
    socket.prependOnceListener('connect', () => {
      if (isReceiverAddress(socket.remoteAddress ?? '', this.#policy)) return;
      socket.destroy(new ForbiddenAddressError('connected to an address that deliveries may not go to'));
    });
    return socket;
  }

  /** Whether a connection whose request is done goes to the pool. */
  override keepSocketAlive(socket: Duplex): boolean {
    // Declared as void, but documented to say so, and false when the receiver announced a shorter patience.
    const keep: unknown = super.keepSocketAlive(socket);
    const now = this.#now();
    this.#idleSince.set(socket, now);
    return keep === true && now - (this.#openedAt.get(socket) ?? 0) < MAX_CONNECTION_AGE_MS;
  }
}
