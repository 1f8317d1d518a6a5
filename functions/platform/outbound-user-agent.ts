import type { SenderEnvironment } from './config.ts';

/** What requests of the service are for, as their `user-agent` names it. */
type Product = 'ConversationService-Webhooks' | 'ConversationService-Knowledge';

/**
 * The `user-agent` of requests to receivers and sources, with a comment that tells the host's owner where to read what the requests are and
 * how to stop them (RFC 9110, 10.1.5).
 */
export function outboundUserAgent(
  product: Product,
  { SENDER_URL: url, SENDER_CONTACT: contact }: SenderEnvironment,
): string {
  const comment = [...(url === undefined ? [] : [`+${url}`]), ...(contact === undefined ? [] : [contact])];
  return comment.length === 0 ? `${product}/1.0` : `${product}/1.0 (${comment.join('; ')})`;
}
