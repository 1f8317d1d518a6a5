import { createRemoteJWKSet, customFetch, type JWTVerifyGetKey, type RemoteJWKSet } from 'jose';
import * as z from 'zod/mini';

/** The keys of the issuer cannot be had at the moment, so that no token of it can be judged. */
export class IssuerUnavailable extends Error {
  override name = 'IssuerUnavailable';
}

/** How long keys are used before they are read again, so that one which the issuer withdraws goes out of use. */
const FRESH_MS = 10 * 60_000;
/** At most so often an unknown key identifier, which anybody can make up, has the keys read again. */
const COOLDOWN_MS = 30_000;
/** After a failure the issuer is left alone for so long; meanwhile nobody waits for it. */
const REST_MS = 5_000;

/** Hosts that only this machine can be: there are no networks on the way that could change what they say. */
const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

function cannotBeAltered(address: string): boolean {
  const { protocol, hostname } = new URL(address);
  return protocol === 'https:' || (protocol === 'http:' && LOOPBACK.has(hostname));
}

const JwkSet = z.object({ keys: z.array(z.looseObject({})) });

/**
 * The published keys of an issuer of tokens (OpenID Connect Discovery 1.0, 4): asked for when the first token comes, then kept.
 * A key that is not among them has them read again, since issuers change their keys without notice.
 * @param timeoutMs for each of the two requests
 * @throws Error at once, when the issuer could be impersonated on the network; when called, IssuerUnavailable, also when the
 * issuer's answers are not of the form that the specification gives them; an error of jose when no key fits the token
 */
export function issuerKeys(issuer: string, timeoutMs: number): JWTVerifyGetKey {
  if (!cannotBeAltered(issuer)) throw new Error('the issuer of sessions must have an https URL');

  const Discovery = z.object({
    // Otherwise one issuer could have its keys taken for those of another (Discovery 4.3).
    issuer: z.literal(issuer),
    jwks_uri: z.url().check(z.refine(cannotBeAltered)),
  });
  let restsUntil = 0;
  let discovered: Promise<RemoteJWKSet> | undefined;

  async function ask<S extends z.ZodMiniType>(
    url: string,
    schema: S,
    signal: AbortSignal,
  ): Promise<z.output<S>> {
    if (Date.now() < restsUntil) throw new IssuerUnavailable('the issuer failed moments ago');
    try {
      const response = await fetch(url, {
        signal,
        redirect: 'error',
        headers: { accept: 'application/json' },
      });
      if (response.status !== 200) throw new Error(`the issuer answered ${response.status}`);
      return schema.parse(await response.json());
    } catch (cause) {
      restsUntil = Date.now() + REST_MS;
      throw new IssuerUnavailable(`the issuer gave no answer of use at ${url}`, { cause });
    }
  }

  async function discover(): Promise<RemoteJWKSet> {
    const address = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
    const { jwks_uri } = await ask(address, Discovery, AbortSignal.timeout(timeoutMs));
    return createRemoteJWKSet(new URL(jwks_uri), {
      timeoutDuration: timeoutMs,
      cooldownDuration: COOLDOWN_MS,
      cacheMaxAge: FRESH_MS,
      [customFetch]: async (url, { signal }) => Response.json(await ask(url, JwkSet, signal)),
    });
  }

  return async (header, token) => {
    discovered ??= discover().catch((error: unknown) => {
      discovered = undefined;
      throw error;
    });
    const keys = await discovered;
    return keys(header, token);
  };
}
