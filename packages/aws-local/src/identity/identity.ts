import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { freePort } from '../engines/free-port.ts';
import { LocalRunError } from '../errors.ts';
import { readIdentityState, writeIdentityState } from './state.ts';
import { signIdToken } from './tokens.ts';
import { startUserDirectory } from './user-directory.ts';
import type { UserPool } from './user-pool.ts';
import { createUsers, type User } from './users.ts';

const REQUEST_TIMEOUT_MS = 30_000;
/** Of ports that were free a moment ago. */
const ATTEMPTS = 5;

/** The identity provider of the local run: an OpenID provider that stands for the template's user pool. */
export interface Identity {
  /** `http://localhost:PORT`; its discovery document is below. */
  issuer: string;
  /** Whom the tokens are for (`aud`). */
  clientId: string;
  /** Says who can sign in. @throws LocalRunError when a user has an attribute that the pool does not allow */
  setUsers(users: readonly User[]): void;
  /** An ID token without a sign-in. @throws LocalRunError when there is no such user */
  idToken(email: string, options: { lifetimeSeconds: number }): Promise<string>;
}

export interface RunningIdentity extends Identity {
  /** Where functions list the users, as at Cognito. */
  userDirectory: string;
  stop(): Promise<void>;
}

/**
 * Starts the identity provider. Its address and its key are kept in the directory, so that tokens stay valid
 * when it starts again; the address only while its port is free.
 *
 * @param options.define the user pool, once the issuer is known
 */
export async function startIdentity(options: {
  directory: string;
  define(issuer: string): UserPool;
  onLog(text: string): void;
}): Promise<RunningIdentity> {
  const { directory, define, onLog } = options;
  const state = await readIdentityState(directory);
  const server = createServer({ requestTimeout: REQUEST_TIMEOUT_MS, headersTimeout: REQUEST_TIMEOUT_MS });
  const port = await listen(server, state.port);
  try {
    const key = state.signingKey;
    await writeIdentityState(directory, { port, signingKey: key });
    const issuer = `http://localhost:${port}`;
    const pool = define(issuer);
    const users = createUsers(pool);
    const userDirectory = await startUserDirectory(pool, users);
    const onError = (error: unknown) =>
      onLog(error instanceof Error ? (error.stack ?? error.message) : String(error));

    // Made when it is first asked: it takes a sixth of a second to load, and most runs ask it nothing.
    let handler: Promise<(request: IncomingMessage, response: ServerResponse) => Promise<void>> | undefined;
    const answer = async (request: IncomingMessage, response: ServerResponse) => {
      handler ??= import('./provider.ts').then(({ createRequestHandler }) =>
        createRequestHandler({ issuer, pool, users, key, onError }),
      );
      await (await handler)(request, response);
    };
    server.on('request', (request, response) => {
      if (request.headers.host !== new URL(issuer).host) return misdirected(response, issuer);
      answer(request, response).catch((error: unknown) => {
        onError(error);
        response.destroy();
      });
    });

    return {
      issuer,
      clientId: pool.clientId,
      setUsers: users.set,
      async idToken(email, { lifetimeSeconds }) {
        const user = users.byEmail(email);
        if (!user) throw new LocalRunError(`The local run has no user ${email}`);
        return signIdToken(user, { issuer, pool, key, lifetimeSeconds });
      },
      userDirectory: userDirectory.endpoint,
      async stop() {
        await Promise.all([stop(server), userDirectory.stop()]);
      },
    };
  } catch (error) {
    await stop(server);
    throw error;
  }
}

/**
 * Another name for this machine: of a page that wants to be taken for ours (DNS rebinding), or a cookie would
 * not be sent with it.
 */
function misdirected(response: ServerResponse, issuer: string): void {
  response.writeHead(421, { 'Content-Type': 'text/plain; charset=utf-8' }).end(`The address is ${issuer}\n`);
}

/** @param earlier the port of the last run */
async function listen(server: Server, earlier: number | undefined): Promise<number> {
  let port = earlier ?? (await freePort());
  for (let attempt = 1; ; attempt += 1) {
    try {
      server.listen(port, '127.0.0.1');
      await once(server, 'listening');
      return port;
    } catch (error) {
      const taken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
      if (!taken || attempt === ATTEMPTS) throw error;
      port = await freePort();
    }
  }
}

async function stop(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}
