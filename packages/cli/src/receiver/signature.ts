import { VerificationError, verify } from '../../../sdk/src/receiver/index.ts';

/** Result of a signature check. `unchecked`: without a secret. */
export type Verification = { kind: 'verified' } | { kind: 'refused'; reason: string } | { kind: 'unchecked' };

/**
 * Verifies a delivery with the TypeScript client, like a customer.
 * @param secret `whsec_` and base64
 * @param headers lower-case names
 */
export async function verifySignature(
  secret: string | undefined,
  body: Buffer,
  headers: Record<string, string>,
): Promise<Verification> {
  if (secret === undefined) return { kind: 'unchecked' };
  try {
    await verify({ headers, body }, secret);
    return { kind: 'verified' };
  } catch (error) {
    if (error instanceof VerificationError) return { kind: 'refused', reason: error.message };
    throw error;
  }
}
