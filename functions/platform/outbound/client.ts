import { type Permit, requirePermit } from '../../domain/gate.ts';
import { checkReceiverUrl, type ReceiverPolicy } from '../../domain/receiver-url.ts';
import { guardedLookup, nameServerResolver, ReceiverAgent, type Resolve } from './agent.ts';
import { exchange, type OutboundRequest, type OutboundResult } from './exchange.ts';
import { type FetchRequest, type FetchResult, retrieve } from './retrieve.ts';

export type { FetchRequest, FetchResult, OutboundRequest, OutboundResult };

export interface OutboundClientOptions {
  policy: ReceiverPolicy;
  /**
   * From the beginning of a `post` to the response headers, or of a `fetch` to the end of the content; name
   * resolution included.
   */
  timeoutMs: number;
  /** Instead of the configured name servers. Its answers are checked like theirs. */
  resolve?: Resolve;
  /** Milliseconds of the wall clock. */
  now?: () => number;
  /** Instead of the authorities that Node trusts (to which NODE_EXTRA_CA_CERTS adds). */
  tls?: { ca: string };
}

export interface OutboundClient {
  /**
   * Sends once. Never rejects for anything that the URL, the network or the receiver does.
   * @param onWritten called when the whole request was handed to the network, unless the answer was there before
   * @throws NotPermitted when the gate has not let it pass
   */
  post(request: OutboundRequest, permit: Permit, onWritten?: () => void): Promise<OutboundResult>;
  /**
   * Gets the content of a URL, following redirects. Never rejects for anything that the URL, the network or the servers do.
   * @throws NotPermitted when the gate has not let it pass
   */
  fetch(request: FetchRequest, permit: Permit): Promise<FetchResult>;
  /** Closes all connections, which fails the requests that hold one. */
  close(): void;
}

/**
 * The only way out of the service to addresses that customers chose, and only for whom the gate lets pass.
 *
 * Three checks stand before the first byte: the URL by the receiver rule, whatever it passed when it was
 * registered; every address of its name, just before connecting to exactly these; and the connected socket.
 *
 * @example const client = outboundClient({ policy: { loopback: 'refuse' }, timeoutMs: 10_000 }); const result
 * = await client.post({ url, headers, body }, permit);
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
