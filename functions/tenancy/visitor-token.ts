import * as z from 'zod/mini';
import { ConversationId, Timestamp } from '../aws/ids.ts';
import { type Keyring, type Purpose, type Seal, seal, unseal } from '../aws/keyrings.ts';
import { Tenant } from './tenant.ts';

/** Lifetime of a visitor's token. */
export const VISITOR_TOKEN_SECONDS = 15 * 60;

/** Access of a web widget's visitor: one conversation, until the token expires. */
export const Visit = z.extend(Tenant, { conversationId: ConversationId, expiresAt: Timestamp });
export type Visit = z.infer<typeof Visit>;

const PREFIX = 'cvt_';
const BEARER = /^Bearer +(cvt_[A-Za-z0-9_-]+)$/i;
const PURPOSE: Purpose = { label: 'visitor-token', bound: '' };

/**
 * Creates the token of a visit. It is stored nowhere and hides its content; the same visit under the same
 * seal has the same token.
 */
export const createVisitorToken = (ring: Keyring, visit: Visit, sealWith: Seal): string =>
  PREFIX + seal(ring, JSON.stringify(Visit.parse(visit)), PURPOSE, sealWith);

export const getSealedPart = (token: string): string => token.slice(PREFIX.length);

/** Returns the visit of a token; undefined when the token is invalid or expired. */
export function openVisitorToken(ring: Keyring, token: string, now: Date): Visit | undefined {
  if (!token.startsWith(PREFIX)) return undefined;
  const text = unseal(ring, getSealedPart(token), PURPOSE);
  if (text === undefined) return undefined;
  const visit = Visit.parse(JSON.parse(text));
  return now < new Date(visit.expiresAt) ? visit : undefined;
}

/** Returns the token of an `Authorization` header; undefined when the header has another form. */
export const parseBearerVisitorToken = (authorization: string | undefined): string | undefined =>
  BEARER.exec(authorization ?? '')?.[1];
