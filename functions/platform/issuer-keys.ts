import { createRemoteJWKSet, customFetch, type JWTVerifyGetKey, type RemoteJWKSet } from 'jose';
import * as z from 'zod/mini';
import type { Issuer } from './issuer.ts';

/** How long keys are used before they are read again, so that one which the issuer withdraws goes out of use. */
const FRESH_MS = 10 * 60_000;
/** At most so often an unknown key identifier, which anybody can make up, has the keys read again. */
const COOLDOWN_MS = 30_000;

const JwkSet = z.object({ keys: z.array(z.looseObject({})) });

export interface IssuerKeys {
  /** Throws IssuerUnavailable, also when the issuer's answers are not of the form that the specification gives them; an error of jose when no key fits the token. */
  keyOf: JWTVerifyGetKey;
  /** Has keys ready that are fresh. @throws IssuerUnavailable */
  ready(): Promise<void>;
}

/**
 * The published keys of an issuer of tokens: asked for when the first token comes, then kept. A key that is not among them has them read
 * again, since issuers change their keys without notice.
 */
export function issuerKeys(issuer: Issuer): IssuerKeys {
  let known: Promise<RemoteJWKSet> | undefined;

  async function discovered(): Promise<RemoteJWKSet> {
    const { jwks_uri } = await issuer.metadata();
    return createRemoteJWKSet(new URL(jwks_uri), {
      cooldownDuration: COOLDOWN_MS,
      cacheMaxAge: FRESH_MS,
      // With the timeout of all requests to the issuer.
      [customFetch]: async (url) => Response.json(await issuer.read(url, JwkSet)),
    });
  }

  async function set(): Promise<RemoteJWKSet> {
    known ??= discovered().catch((error: unknown) => {
      known = undefined;
      throw error;
    });
    return known;
  }

  return {
    keyOf: async (header, token) => (await set())(header, token),
    async ready() {
      const keys = await set();
      if (!keys.fresh) await keys.reload();
    },
  };
}
