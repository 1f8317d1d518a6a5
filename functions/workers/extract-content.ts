import middy from '@middy/core';
import { outboundUserAgent, reachableReceivers, readEnvironment, SenderEnvironment } from '../aws/config.ts';
import { invocation } from '../aws/logger.ts';
import { contentClient } from '../delivery/outbound/client.ts';
import { FETCH_TIMEOUT_SECONDS } from '../delivery/timing.ts';
import { extractContent } from '../knowledge/extract.ts';
import { ExtractionRequest } from '../knowledge/source-content.ts';
import { isBlocked } from '../receivers/receiver-url.ts';
import { gate } from '../tenancy/gate.ts';

export const ExtractContentEnvironment = SenderEnvironment;

const userAgent = outboundUserAgent(
  'ConversationService-Knowledge',
  readEnvironment(ExtractContentEnvironment),
);
const reachable = reachableReceivers();

// Parsers may print parts of a document.
for (const level of ['debug', 'info', 'log', 'warn', 'error'] as const) console[level] = () => undefined;

/**
 * Fetches and extracts one document; the source checker invokes it. It has no access to the service's data,
 * so that a malicious document gains nothing.
 * @throws a zod error when the payload is invalid
 */
export const handler = middy<unknown, unknown>({
  // Lambda's own limit ends it, since the source checker reads from that error that the content was slow.
  timeoutEarlyInMillis: 0,
})
  .use(invocation())
  .handler((payload: unknown) => {
    const request = ExtractionRequest.parse(payload);
    const blocked = new Set(request.blockedHosts);
    const extract = extractContent({
      gate: gate(async () => request.organization),
      outbound: contentClient({
        policy: { ...reachable, blocks: (host) => isBlocked(host, blocked) },
        timeoutMs: FETCH_TIMEOUT_SECONDS * 1000,
      }),
      userAgent,
    });
    return extract(request);
  });
