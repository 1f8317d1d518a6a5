import { checkReceiverUrl, type ReceiverPolicy } from '../../receivers/receiver-url.ts';
import { type Permit, requirePermit } from '../../tenancy/gate.ts';
import { forbid } from '../delivery.ts';
import { guardedLookup, nameServerResolver, ReceiverAgent, type Resolve } from './agent.ts';
import { exchange, type OutboundRequest, type OutboundResult } from './exchange.ts';
import { type FetchRequest, type FetchResult, retrieve } from './retrieve.ts';

export type { FetchRequest, FetchResult, OutboundRequest, OutboundResult };

export interface OutboundClientOptions {
  policy: ReceiverPolicy;
  /**
   * From the start of `post` to the response headers, or of `fetch` to the end of the content; includes name
   * resolution.
   */
  timeoutMs: number;
  /** Replaces the configured name servers. Its addresses are checked as well. */
  resolve?: Resolve;
  /** Wall clock in milliseconds. */
  now?: () => number;
  /** Replaces the authorities that Node trusts (NODE_EXTRA_CA_CERTS adds to these). */
  tls?: { ca: string };
}

export type ReceiverClient = ReturnType<typeof receiverClient>;
export type ContentClient = ReturnType<typeof contentClient>;

/*
 * The only paths to hosts that customers choose, one to send and one to read, so that a function has the code
 * of what it does; both need a permit of the gate.
 * Three checks precede the first byte: the URL by the receiver rule, regardless of the check at registration;
 * every address of its name, before connecting to exactly these; and the connected socket.
 */

/**
 * Sends to receivers.
 * @example
 * const client = receiverClient({ policy: { loopback: 'refuse' }, timeoutMs: 10_000 });
 * const result = await client.post({ url, headers, body }, permit);
 */
export function receiverClient(options: OutboundClientOptions) {
  const { policy, timeoutMs, now = Date.now } = options;
  const agent = createAgent(options);
  return {
    /**
     * Sends once. Never rejects for failures of the URL, the network or the receiver.
     * @param onWritten called when the whole request was sent, unless the response came first
     * @throws NotPermitted without a permit of the gate
     */
    async post(request: OutboundRequest, permit: Permit, onWritten?: () => void): Promise<OutboundResult> {
      requirePermit(permit);
      const check = checkReceiverUrl(request.url.href, policy);
      if (!check.ok) return { kind: 'failed', ...forbid(check), durationMs: 0 };
      agent.closeIdle();
      return exchange({ ...request, url: check.url }, { agent, timeoutMs, now, onWritten });
    },
    /** Closes all connections, which fails their requests. */
    close: () => agent.destroy(),
  };
}

/** Reads the content of sources. */
export function contentClient(options: OutboundClientOptions) {
  const agent = createAgent(options);
  return {
    /**
     * Fetches a URL, following redirects. Never rejects for failures of the URL, the network or the servers.
     * @throws NotPermitted without a permit of the gate
     */
    async fetch(request: FetchRequest, permit: Permit): Promise<FetchResult> {
      requirePermit(permit);
      return retrieve(request, { ...options, agent });
    },
    close: () => agent.destroy(),
  };
}

const createAgent = ({
  policy,
  resolve = nameServerResolver(),
  now = Date.now,
  tls,
}: OutboundClientOptions) =>
  new ReceiverAgent({ lookup: guardedLookup(resolve, policy), policy, now, ca: tls?.ca });
