import type { IncomingMessage, ServerResponse } from 'node:http';
import { errors, type Interaction, type Provider } from 'oidc-provider';
import { noticePage, signInPage } from './pages.ts';
import type { Users } from './users.ts';

/** Path of the sign-in page, before a sign-in's id. */
export const SIGN_IN_PATH = '/sign-in/';

/** Far more than an address and a password. */
const BODY_LIMIT_BYTES = 8 * 1024;

interface Place {
  provider: Provider;
  users: Users;
  headers: Record<string, string>;
}

/**
 * Handles a request to the sign-in page: returns the form, or redirects the browser after the right password.
 */
export async function signIn(
  place: Place,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { provider, users, headers } = place;
  const send = (status: number, page: string) => response.writeHead(status, headers).end(page);
  if (request.method !== 'GET' && request.method !== 'POST') {
    response.setHeader('Allow', 'GET, POST');
    send(405, noticePage('Not possible', 'This page is opened and submitted, nothing else.'));
    return;
  }
  const interaction = await findSignIn(provider, request, response);
  if (!interaction) {
    send(400, noticePage('This sign-in is over', 'Go back to where you came from and sign in again.'));
    return;
  }
  if (request.method === 'GET') {
    const { login_hint: hint } = interaction.params;
    send(200, signInPage({ email: typeof hint === 'string' ? hint : '', users: users.all() }));
    return;
  }
  const form = await readForm(request);
  if (form === 'too large') {
    response.shouldKeepAlive = false;
    send(413, noticePage('Too much', 'An address and a password are shorter than that.'));
    return;
  }
  const email = form.get('email') ?? '';
  const user = users.authenticate(email, form.get('password') ?? '');
  if (user) {
    await provider.interactionFinished(request, response, { login: { accountId: user.id, amr: ['pwd'] } });
    return;
  }
  const failure = 'The email address or the password is wrong.';
  send(422, signInPage({ email, failure, users: users.all() }));
}

/** The sign-in of the browser's cookie; undefined when it has ended. */
async function findSignIn(
  provider: Provider,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<Interaction | undefined> {
  try {
    return await provider.interactionDetails(request, response);
  } catch (error) {
    if (error instanceof errors.SessionNotFound) return undefined;
    throw error;
  }
}

async function readForm(request: IncomingMessage): Promise<URLSearchParams | 'too large'> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    bytes += chunk.length;
    if (bytes > BODY_LIMIT_BYTES) return 'too large';
    chunks.push(chunk);
  }
  return new URLSearchParams(Buffer.concat(chunks).toString('utf8'));
}
