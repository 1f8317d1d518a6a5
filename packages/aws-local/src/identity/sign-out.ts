import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Adapter } from 'oidc-provider';
import type { UserPool } from './user-pool.ts';

/** Path of a user pool's logout endpoint. */
export const SIGN_OUT_PATH = '/logout';

interface Place {
  pool: Pick<UserPool, 'clientId' | 'logoutUrls'>;
  /** Name of the provider's cookie for a signed-in browser. */
  sessionCookie: string;
  sessions: Pick<Adapter, 'destroy'>;
}

/**
 * Signs a browser out and redirects it without a prompt, as a user pool does with a `logout_uri` (Cognito
 * Developer Guide, The managed login sign-out endpoint). With only the specification's parameters the
 * provider asks first.
 * @returns whether it handled the request
 */
export async function signOut(
  { pool, sessionCookie, sessions }: Place,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<boolean> {
  const url = URL.parse(request.url ?? '', 'http://localhost');
  if (url?.pathname !== SIGN_OUT_PATH || request.method !== 'GET') return false;
  const goOn = url.searchParams.get('logout_uri');
  const isOurs = url.searchParams.get('client_id') === pool.clientId;
  if (goOn === null || !isOurs || !pool.logoutUrls.includes(goOn)) return false;
  const id = cookieIn(request.headers.cookie, sessionCookie);
  if (id !== undefined) await sessions.destroy(id);
  const cleared = [sessionCookie, `${sessionCookie}.sig`].map(
    (name) => `${name}=; Path=/; Max-Age=0; HttpOnly`,
  );
  response.writeHead(302, { Location: goOn, 'Set-Cookie': cleared, 'Cache-Control': 'no-store' }).end();
  return true;
}

function cookieIn(header: string | undefined, wanted: string): string | undefined {
  for (const pair of (header ?? '').split(';')) {
    const [name, value] = pair.trim().split('=', 2);
    if (name === wanted) return value;
  }
  return undefined;
}
