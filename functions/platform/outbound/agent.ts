import { Agent } from 'node:https';
import { type LookupFunction, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { isReceiverAddress, type ReceiverPolicy } from '../../domain/receiver-url.ts';
import { ForbiddenAddressError } from './addresses.ts';

/** So that one receiver's name cannot take all sockets of the process. */
const MAX_SOCKETS_PER_HOST = 50;
const MAX_FREE_SOCKETS_PER_HOST = 10;

/**
 * Shorter than what common servers wait before they close an idle connection (gunicorn 2 s, Apache and Node 5 s).
 * A request that meets such a close is a failed attempt, not one that is sent again behind the caller's back: the
 * receiver may have acted on it.
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
 * The connections to receivers: TLS with verified certificates, to addresses the policy permits, kept for a moment.
 * Takes no proxy from the environment, unlike the global agent. Pooled connections are told apart by host and port, and
 * belong to an address that was checked when they were opened.
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
    // A second check, of what really was connected to. Prepended, so that it comes before the first byte of TLS.
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
