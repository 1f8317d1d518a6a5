import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import * as z from 'zod/mini';
import { returnPath } from './return-path.ts';

/** Bytes of what nobody may guess; as many as RFC 7636, 4.1 recommends for a verifier. */
const RANDOM_BYTES = 32;

const Random = z.string().check(z.regex(/^[\w-]{43}$/));

/**
 * A sign-in that is under way, as its browser keeps it. That is not encrypted: what the browser holds is its own, and everything in it is
 * compared with what comes back by way of the issuer.
 */
const Attempt = z.object({
  /** Comes back with the code: an answer to nobody's request signs nobody in (RFC 9700, 4.7). */
  state: Random,
  /** Comes back in the ID token, which is thereby for this sign-in (OpenID Connect Core 1.0, 3.1.2.1). */
  nonce: Random,
  /** Proves that whoever redeems the code is who asked for it (RFC 7636). */
  verifier: Random,
  /** Where the person goes on. */
  returnTo: z.string().check(z.refine((path) => returnPath(path) === path)),
});
export type Attempt = z.infer<typeof Attempt>;

const random = (): string => randomBytes(RANDOM_BYTES).toString('base64url');
const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest();

/** @param returnTo as {@link returnPath} gives it */
export const newAttempt = (returnTo: string): Attempt => ({
  state: random(),
  nonce: random(),
  verifier: random(),
  returnTo,
});

/** What the issuer is told of the verifier (RFC 7636, 4.2, S256). */
export const challengeOf = ({ verifier }: Attempt): string => digestOf(verifier).toString('base64url');

/** Whether what came back is the answer to this attempt, compared in constant time. */
export const isAnswerTo = (attempt: Attempt, state: string): boolean =>
  timingSafeEqual(digestOf(attempt.state), digestOf(state));

export const toCookie = (attempt: Attempt): string =>
  Buffer.from(JSON.stringify(attempt)).toString('base64url');

/** @returns undefined for what {@link toCookie} has not written */
export function fromCookie(value: string | undefined): Attempt | undefined {
  if (value === undefined) return undefined;
  try {
    return Attempt.safeParse(JSON.parse(Buffer.from(value, 'base64url').toString('utf8'))).data;
  } catch {
    return undefined;
  }
}
