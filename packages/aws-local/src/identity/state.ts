import { generateKeyPair, type JsonWebKey } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { calculateJwkThumbprint } from 'jose';
import { PRIVATE, readIfPresent, replaceFile } from 'terminal/files.ts';
import * as z from 'zod';

const FILE = 'identity.json';
const MODULUS_BITS = 2048;

const SigningKey = z.object({
  kty: z.literal('RSA'),
  kid: z.string(),
  alg: z.literal('RS256'),
  use: z.literal('sig'),
  n: z.string(),
  e: z.string(),
  d: z.string(),
  p: z.string(),
  q: z.string(),
  dp: z.string(),
  dq: z.string(),
  qi: z.string(),
});
/** Private key of the tokens, a JSON Web Key. */
export type SigningKey = z.infer<typeof SigningKey>;

const State = z.object({
  /** Part of the issuer's URL, and so of every token. */
  port: z.int().min(1).max(65_535).optional(),
  signingKey: SigningKey,
});
/** State that keeps tokens valid after a run. */
export type IdentityState = z.infer<typeof State>;

/** Reads the stored state, or creates a key. An unreadable one is replaced: only tokens are lost. */
export async function readIdentityState(directory: string): Promise<IdentityState> {
  const text = await readIfPresent(join(directory, FILE));
  const kept = text === undefined ? undefined : State.safeParse(parseJson(text)).data;
  return kept ?? { signingKey: await newSigningKey() };
}

/** Readable only by its owner: the key allows signing in as any user. */
export async function writeIdentityState(directory: string, state: IdentityState): Promise<void> {
  await replaceFile(join(directory, FILE), `${JSON.stringify(state, null, 2)}\n`, PRIVATE);
}

async function newSigningKey(): Promise<SigningKey> {
  const { privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: MODULUS_BITS });
  const key: JsonWebKey = privateKey.export({ format: 'jwk' });
  const { kty, n, e } = key;
  const kid = await calculateJwkThumbprint({ kty: kty ?? '', n, e });
  return SigningKey.parse({ ...key, kid, alg: 'RS256', use: 'sig' });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
