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
/** Attempts to listen on a port that was free a moment ago. */
const ATTEMPTS = 5;

/** OpenID provider in place of the template's user pool. */
export interface Identity {
  /** `http://localhost:PORT`, base URL of the discovery document. */
  issuer: string;
  /** Audience of the tokens (`aud`). */
  clientId: string;
  /** @throws LocalRunError when a user has an attribute that the pool does not allow */
  setUsers(users: readonly User[]): void;
  /**
   * Issues an ID token without a sign-in.
   * @throws LocalRunError when there is no such user
   */
  idToken(email: string, options: { lifetimeSeconds: number }): Promise<string>;
}

export interface RunningIdentity extends Identity {
  /** URL of the Cognito API with `ListUsers`. */
  userDirectory: string;
  stop(): Promise<void>;
}

/**
 * Starts the identity provider. The directory stores its key, and its port while that is free, so that tokens
 * stay valid after a restart.
 * @param options.define creates the user pool for the issuer
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

    // Created on first use: it takes a sixth of a second to load, and most runs never use it.
    let handler: Promise<(request: IncomingMessage, response: ServerResponse) => Promise<void>> | undefined;
    const answer = async (request: IncomingMessage, response: ServerResponse) => {
      handler ??= import('./provider.ts').then(({ createRequestHandler }) =>
        createRequestHandler({ issuer, pool, users, key, onError }),
      );
      await (await handler)(request, response);
    };
    server.on('request', (request, response) => {
      if (request.headers.host !== new URL(issuer).host) return rejectHost(response, issuer);
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

/** Rejects other names of this machine: DNS rebinding, or a cookie would not be sent along. */
function rejectHost(response: ServerResponse, issuer: string): void {
  response.writeHead(421, { 'Content-Type': 'text/plain; charset=utf-8' }).end(`The address is ${issuer}\n`);
}

/** @param earlier port of the last run */
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
