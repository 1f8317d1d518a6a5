import { type Permit, requirePermit } from '../../domain/gate.ts';
import { checkReceiverUrl, type ReceiverPolicy } from '../../domain/receiver-url.ts';
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

export interface OutboundClient {
  /**
   * Sends once. Never rejects for failures of the URL, the network or the receiver.
   * @param onWritten called when the whole request was sent, unless the response came first
   * @throws NotPermitted without a permit of the gate
   */
  post(request: OutboundRequest, permit: Permit, onWritten?: () => void): Promise<OutboundResult>;
  /**
   * Fetches a URL, following redirects. Never rejects for failures of the URL, the network or the servers.
   * @throws NotPermitted without a permit of the gate
   */
  fetch(request: FetchRequest, permit: Permit): Promise<FetchResult>;
  /** Closes all connections, which fails their requests. */
  close(): void;
}

/**
 * The only path to hosts that customers choose; it needs a permit of the gate.
 * Three checks precede the first byte: the URL by the receiver rule, regardless of the check at registration;
 * every address of its name, before connecting to exactly these; and the connected socket.
 * @example
 * const client = outboundClient({ policy: { loopback: 'refuse' }, timeoutMs: 10_000 });
 * const result = await client.post({ url, headers, body }, permit);
 */
export function outboundClient(options: OutboundClientOptions): OutboundClient {
  const { policy, timeoutMs, resolve = nameServerResolver(), now = Date.now, tls } = options;
  const agent = new ReceiverAgent({ lookup: guardedLookup(resolve, policy), policy, now, ca: tls?.ca });

  return {
    async post(request, permit, onWritten) {
      requirePermit(permit);
      const check = checkReceiverUrl(request.url.href, policy);
      if (!check.ok) return { kind: 'failed', error: check.problem, durationMs: 0 };

      agent.closeIdle();
      return exchange({ ...request, url: check.url }, { agent, timeoutMs, now, onWritten });
    },
    async fetch(request, permit) {
      requirePermit(permit);
      return retrieve(request, { agent, policy, timeoutMs });
    },
    close: () => agent.destroy(),
  };
}
