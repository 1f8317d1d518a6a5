import type { IncomingMessage, RequestListener } from 'node:http';
import type { APIGatewayProxyResult } from 'aws-lambda';
import * as z from 'zod';
import { begin } from '../../../../functions/api/sign-in/begin-sign-in.ts';
import { finish } from '../../../../functions/api/sign-in/finish-sign-in.ts';
import { renew } from '../../../../functions/api/sign-in/renew-session.ts';
import {
  beginSignIn,
  finishSignIn,
  renewSession,
  signOut,
} from '../../../../functions/api/sign-in/routes.ts';
import { signInHandler } from '../../../../functions/api/sign-in/sign-in.ts';
import { end } from '../../../../functions/api/sign-in/sign-out.ts';
import { idTokenReader, issuerAt } from '../../../../functions/tenancy/sessions.ts';
import { aGatewayEvent, INVOCATION } from '../../../support/functions.ts';
import { capturingLogger } from '../../aws/capturing-logger.ts';
import {
  aKey,
  anIssuer,
  aToken,
  CLIENT,
  type Issuer,
  type TokenChanges,
} from '../../tenancy/issuer-fixture.ts';

export const ORIGIN = 'https://dashboard.example.com';
const TOKEN = '/token';
const REVOKE = '/revoke';

const key = await aKey('ES256', 'only');

/** The token endpoint's answer to a grant. */
interface Granted {
  status?: number;
  /** Replaces the tokens in the answer. */
  body?: unknown;
  token?: TokenChanges;
  refreshToken?: string;
  idToken?: string;
}

async function readForm(request: IncomingMessage): Promise<Record<string, string>> {
  let text = '';
  for await (const chunk of request) text += chunk;
  return Object.fromEntries(new URLSearchParams(text));
}

interface Circumstances {
  dashboardOrigin?: string | undefined;
  /** The issuer's time limit: far longer than it takes, except in tests where it never answers. */
  issuerTimeoutMs?: number;
  /** Members of the issuer's discovery document. */
  discovery?: Record<string, unknown>;
}

interface Sent {
  headers?: Record<string, string | undefined>;
  /** A JSON body of any form. `text` is sent unchanged. */
  body?: unknown;
  text?: string;
}

const Answer = z.object({
  data: z.record(z.string(), z.unknown()).optional(),
  error: z.object({ type: z.string(), message: z.string() }).optional(),
});

/** The sign-in as a browser uses it, with an issuer on a loopback port. */
export async function aDashboard(circumstances: Circumstances = {}) {
  const { dashboardOrigin = ORIGIN, discovery = {}, issuerTimeoutMs = 20_000 } = circumstances;
  const issuer = await anIssuer(key);
  Object.assign(issuer.discovery, buildEndpoints(issuer), discovery);
  const posted: { path: string; form: Record<string, string> }[] = [];
  const granted: Granted = { refreshToken: 'a-refresh-token' };
  const nonces: (string | undefined)[] = [];
  const answered =
    (
      path: string,
      answer: (form: Record<string, string>) => Promise<[status: number, body: unknown]>,
    ): RequestListener =>
    async (request, response) => {
      const form = await readForm(request);
      posted.push({ path, form });
      const [status, body] = await answer(form);
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    };
  issuer.further[TOKEN] = answered(TOKEN, async () => {
    const nonce = nonces.at(-1);
    const { token = {}, status = 200, body, refreshToken: refresh_token } = granted;
    const claims = { ...(nonce === undefined ? {} : { nonce }), ...token.claims };
    const id_token = granted.idToken ?? (await aToken(issuer, key, { ...token, claims }));
    return [status, body ?? { id_token, access_token: 'not needed', token_type: 'Bearer', refresh_token }];
  });
  issuer.further[REVOKE] = answered(REVOKE, async () => [200, {}]);

  const at = issuerAt(issuer.url, issuerTimeoutMs);
  const identity = {
    issuer: issuer.url,
    audience: CLIENT,
    organizationClaim: 'custom:organization',
    roleClaim: 'custom:role',
  };
  const terms = {
    dashboardOrigin,
    clientId: CLIENT,
    scope: 'openid',
    issuer: at,
    idTokens: idTokenReader(identity, at),
  };
  const logger = capturingLogger();
  const origin = 'dashboardOrigin' in circumstances ? circumstances.dashboardOrigin : ORIGIN;
  const handlers = {
    begin: signInHandler(beginSignIn, origin, terms, begin, logger),
    finish: signInHandler(finishSignIn, origin, terms, finish, logger),
    renew: signInHandler(renewSession, origin, terms, renew, logger),
    end: signInHandler(signOut, origin, terms, end, logger),
  };
  const jar = new Map<string, string>();

  async function call(name: keyof typeof handlers, { headers = {}, body, text }: Sent = {}) {
    const cookie = [...jar].map(([cookieName, value]) => `${cookieName}=${value}`).join('; ');
    const all = {
      Origin: ORIGIN,
      'Content-Type': 'application/json',
      ...(cookie === '' ? {} : { Cookie: cookie }),
      ...headers,
    };
    const sent = Object.entries(all).flatMap(([field, value]) =>
      value === undefined ? [] : [[field, value]],
    );
    const event = aGatewayEvent({
      httpMethod: name === 'end' ? 'DELETE' : 'POST',
      headers: Object.fromEntries(sent),
      body: text ?? (body === undefined ? null : JSON.stringify(body)),
    });
    const result = await handlers[name](event, INVOCATION);
    keep(jar, result);
    return {
      result,
      status: result.statusCode,
      cookies: listCookies(result),
      ...Answer.parse(JSON.parse(result.body)),
    };
  }

  return {
    issuer,
    posted,
    granted,
    jar,
    logger,
    call,
    /** Begins a sign-in, and parses the URL at the issuer. */
    async begin(body: object = {}) {
      const begun = await call('begin', { body });
      const location = new URL(String(begun.data?.location));
      nonces.push(location.searchParams.get('nonce') ?? undefined);
      return { ...begun, location, state: location.searchParams.get('state') ?? '' };
    },
    finish: (state: string, code = 'a-code') => call('finish', { body: { code, state } }),
  };
}

const buildEndpoints = ({ url }: Pick<Issuer, 'url'>) => ({
  authorization_endpoint: `${url}/authorize?kept=1`,
  token_endpoint: `${url}${TOKEN}`,
  revocation_endpoint: `${url}${REVOKE}`,
  end_session_endpoint: `${url}/logout`,
});

const listCookies = ({ multiValueHeaders }: APIGatewayProxyResult): string[] =>
  (multiValueHeaders?.['Set-Cookie'] ?? []).map(String);

/** Stores cookies as a browser does. */
function keep(jar: Map<string, string>, result: APIGatewayProxyResult): void {
  for (const cookie of listCookies(result)) {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
    if (/Max-Age=0;/.test(cookie)) jar.delete(name);
    else jar.set(name, value);
  }
}

export type Dashboard = Awaited<ReturnType<typeof aDashboard>>;

/** Begins a sign-in and finishes it. */
export async function signedIn(dashboard: Dashboard, returnTo = '/deliveries') {
  const { state } = await dashboard.begin({ returnTo });
  return dashboard.finish(state);
}

export const codesOf = ({ logger }: Dashboard): unknown[] => logger.lines.map(({ code }) => code);
