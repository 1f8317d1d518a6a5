import type { ApiClient } from '../../../support/api.ts';
import type { Pair, Place } from '../place.ts';
import type { Actor } from './transcript.ts';

const NARROW = ['read:conversations'];

/** Gives both organizations of a pair the same kinds of keys, created by the admin. */
export async function actorsOf(
  place: Place,
  { live, sandbox }: Pair,
): Promise<{ live: Actor; sandbox: Actor }> {
  const { admin } = live;
  const keys = { live: '/api/settings/api-keys', sandbox: '/api/settings/sandbox/provision' };

  async function actor(key: string, path: string): Promise<Actor> {
    const lost = await issued(admin, path);
    const { status } = await admin.call({ method: 'DELETE', path: `/api/settings/api-keys/${lost.id}` });
    if (status !== 204) throw new Error(`the revocation answered ${status}`);
    const { secret } = await issued(admin, path);
    return { connection: place.connection(), key, narrow: secret, revoked: lost.secret };
  }

  return { live: await actor(live.key, keys.live), sandbox: await actor(sandbox.key, keys.sandbox) };
}

/** Both operations that create a key return its secret, one of them in another field. */
async function issued(admin: ApiClient, path: string): Promise<{ id: string; secret: string }> {
  const { status, body } = await admin.post(path, { name: 'Another', scopes: NARROW });
  if (status !== 201) throw new Error(`POST ${path} answered ${status}: ${JSON.stringify(body)}`);
  const data = Object(body.data);
  const { id, secretOnce } = data.key ?? data;
  return { id, secret: secretOnce };
}
