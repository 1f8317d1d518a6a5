import * as z from 'zod/mini';
import { ConversationId } from './ids.ts';
import type { Keyring } from './keyring.ts';
import { type Purpose, type Seal, seal, unseal } from './sealing.ts';
import { Tenant } from './tenant.ts';

/** For how long a visitor's token is good. Seconds. */
export const VISITOR_TOKEN_SECONDS = 15 * 60;

/** What a visitor of a web widget may see: one conversation, until the token ends. */
export const Visit = z.object({
  orgId: Tenant.shape.orgId,
  generation: Tenant.shape.generation,
  conversationId: ConversationId,
  expiresAt: z.iso.datetime(),
});
export type Visit = z.infer<typeof Visit>;

const PREFIX = 'cvt_';
const BEARER = /^Bearer +(cvt_[A-Za-z0-9_-]+)$/i;
const PURPOSE: Purpose = { label: 'visitor-token', bound: '' };

/**
 * The token of a visit. It is stored nowhere and shows nothing of what it holds; the same visit under the
 * same seal has the same one.
 */
export const createVisitorToken = (ring: Keyring, visit: Visit, sealWith: Seal): string =>
  PREFIX + seal(ring, JSON.stringify(Visit.parse(visit)), PURPOSE, sealWith);

/** What of a token is sealed. */
export const getSealedPart = (token: string): string => token.slice(PREFIX.length);

/** The visit that a token holds. Undefined when it is not one of ours, or has ended. */
export function openVisitorToken(ring: Keyring, token: string, now: Date): Visit | undefined {
  if (!token.startsWith(PREFIX)) return undefined;
  const text = unseal(ring, getSealedPart(token), PURPOSE);
  if (text === undefined) return undefined;
  const visit = Visit.parse(JSON.parse(text));
  return now < new Date(visit.expiresAt) ? visit : undefined;
}

/** The token in an `Authorization` header, or undefined when there is none of the right form. */
export const parseBearerVisitorToken = (authorization: string | undefined): string | undefined =>
  BEARER.exec(authorization ?? '')?.[1];
