import { Webhook, WebhookVerificationError } from 'standardwebhooks';

/** Result of a signature check. `unchecked`: without a secret. */
export type Verification = { kind: 'verified' } | { kind: 'refused'; reason: string } | { kind: 'unchecked' };

/**
 * Verifies a delivery with the Standard Webhooks library, like a customer.
 * @param secret `whsec_` and base64
 * @param headers lower-case names
 */
export function verifySignature(
  secret: string | undefined,
  body: Buffer,
  headers: Record<string, string>,
): Verification {
  if (secret === undefined) return { kind: 'unchecked' };
  try {
    new Webhook(secret).verify(body, headers, { jsonParse: false });
    return { kind: 'verified' };
  } catch (error) {
    if (error instanceof WebhookVerificationError) return { kind: 'refused', reason: error.message };
    throw error;
  }
}
