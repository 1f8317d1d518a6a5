import { Webhook, WebhookVerificationError } from 'standardwebhooks';

/** What the receiver's check of a signature says. `unchecked`: it has no secret to check with. */
export type Verification = { kind: 'verified' } | { kind: 'refused'; reason: string } | { kind: 'unchecked' };

/**
 * Checks a delivery as a customer would, with the Standard Webhooks library.
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
