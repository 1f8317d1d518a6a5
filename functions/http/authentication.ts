import type { APIGatewayProxyEvent } from 'aws-lambda';
import { BoundedMap, TimedCache } from '../aws/cache.ts';
import type { ConversationId } from '../aws/ids.ts';
import type { ContextFields, Log } from '../aws/log-codes.ts';
import { Defect } from '../aws/logger.ts';
import {
  type ApiKey,
  type apiKeyStore,
  hashApiKey,
  hasScope,
  type keyUseStore,
  parseBearerKey,
  type Scope,
} from '../tenancy/api-keys.ts';
import type { AuditActor } from '../tenancy/audit.ts';
import type { Key, RateBucket } from '../tenancy/keys.ts';
import { type readPairing, routeToEnvironment } from '../tenancy/organizations.ts';
import { Environment, hasRole, LIVE_GENERATION, type Session, type Tenant } from '../tenancy/tenant.ts';
import { parseBearerVisitorToken, type Visit } from '../tenancy/visitor-token.ts';
import { header } from './lifecycle.ts';
import { invalid, isProblem, type Problem, refusals } from './problem.ts';
import type { Budget } from './rate-limit.ts';
import { type Route, SESSION_COOKIE, settingsPath } from './route.ts';

export interface Caller {
  /** Tenant whose data the request uses. */
  tenant: Tenant;
  /** The one conversation of a visitor. */
  conversationId?: ConversationId;
  bucket: RateBucket;
  /** Set when the caller determines it; otherwise the live organization's tier. */
  tier?: Budget;
  /** Records the use of the caller's key. Never rejects. */
  noteUse?(now: Date): Promise<void>;
  /** Undefined for visitors, who change no set-up. */
  actor?: AuditActor;
  session?: Session;
  /** Scopes of an API key; undefined for a caller without a key. */
  scopes?: readonly Scope[];
  /** Identifies the caller in logs. */
  logged: ContextFields;
  /** Set for an authenticated caller without permission. */
  denied?: Problem;
  /** Row of the tenant that was read with the caller's key (`BuildRowKey`). */
  rowAhead?: Readonly<Record<string, unknown>>;
}

/** Authenticates the caller before the rest of the request is read. */
export type Authenticate = (
  event: APIGatewayProxyEvent,
  route: Pick<Route, 'scope' | 'role' | 'dashboard' | 'method' | 'path'>,
) => Promise<Caller | Problem>;

type FindSandbox = ReturnType<typeof readPairing>;

type KeyStore = ReturnType<typeof apiKeyStore>;

/** A row that the use case needs, to be read with the caller's key. */
export interface ReadAhead {
  /** @returns undefined when the request names none */
  buildRowKey(tenant: Tenant, event: APIGatewayProxyEvent): Key | undefined;
  findWith: KeyStore['findWith'];
}

const MAX_CACHED_KEYS = 1000;

/**
 * Callers with API keys (docs/specification.md, Authentication). A sandbox key acts for its organization's
 * sandbox only; the pairing is read for each request, and a key without a valid pairing is answered like an
 * unknown one.
 * @param ahead reads a row in one request with the API key. The key is read each time; the tenant
 * of its last call only guesses the row's key, so the row counts only when the key acts for the same tenant.
 */
export function keyAuthentication(
  keys: Pick<KeyStore, 'find'> & { noteUse: ReturnType<typeof keyUseRecorder> },
  findSandbox: FindSandbox,
  log: Log,
  ahead?: ReadAhead,
): Authenticate {
  const tenants = new BoundedMap<string, Tenant>(MAX_CACHED_KEYS);

  async function identify(key: ApiKey): Promise<Pick<Caller, 'tenant' | 'bucket' | 'tier'> | undefined> {
    const { orgId, environment } = key;
    if (environment === 'live')
      return { tenant: { orgId, generation: LIVE_GENERATION }, bucket: { orgId, kind: 'live' } };
    const { pairing, sandbox } = await findSandbox(orgId);
    const route = routeToEnvironment(key, pairing, sandbox);
    if (route.kind === 'refused') {
      log('SANDBOX_KEY_REFUSED', { keyId: key.id, liveOrgId: orgId, why: route.why });
      return undefined;
    }
    return { tenant: route.tenant, bucket: { orgId: route.tenant.orgId, kind: 'sandbox' }, tier: 'sandbox' };
  }

  return async (event, { scope }) => {
    const presented = parseBearerKey(header(event, 'authorization'));
    if (presented === undefined) return refusals.missingKey;
    const digest = hashApiKey(presented);
    const guessed = tenants.get(digest);
    const rowKey = guessed && ahead?.buildRowKey(guessed, event);
    const { key, row } =
      ahead && rowKey
        ? await ahead.findWith(digest, rowKey)
        : { key: await keys.find(digest), row: undefined };
    if (key === undefined || key.revokedAt !== undefined) return refusals.missingKey;
    const caller = await identify(key);
    if (caller === undefined) return refusals.missingKey;
    const { orgId, generation } = caller.tenant;
    const isOfTenant = guessed?.orgId === orgId && guessed.generation === generation;
    if (ahead) tenants.set(digest, caller.tenant);
    return {
      ...caller,
      ...(row && isOfTenant && { rowAhead: row }),
      noteUse: (now) => keys.noteUse(key, now),
      scopes: key.scopes,
      actor: { type: 'api_key', id: key.id },
      logged: { keyId: key.id },
      ...(scope !== undefined && hasScope(key.scopes, scope) ? {} : { denied: refusals.missingScope(scope) }),
    };
  };
}

/** Minimum interval between records of a key's use, per instance. */
const INTERVAL_MS = 5 * 60_000;
/** As for the rate limiter, which runs in parallel. */
const TIMEOUT_MS = 500;

/**
 * Records the use of keys. A failure refuses no request and is retried after the interval; it costs some
 * minutes of accuracy.
 * @returns a function whose promise never rejects
 */
export function keyUseRecorder(uses: Pick<ReturnType<typeof keyUseStore>, 'note'>, log: Log) {
  const recorded = new TimedCache<ApiKey['id'], true>({ capacity: MAX_CACHED_KEYS, freshMs: INTERVAL_MS });
  return async (key: Pick<ApiKey, 'id' | 'orgId'>, now: Date): Promise<void> => {
    if (recorded.get(key.id, now)) return;
    recorded.set(key.id, true, now);
    try {
      await uses.note(key, now, TIMEOUT_MS);
    } catch (error) {
      log('KEY_USE_NOT_NOTED', { error });
    }
  };
}

/** Returns a cookie that occurs exactly once. Of several with one name, another site may have set one. */
export function parseCookie(event: APIGatewayProxyEvent, wanted: string): string | undefined {
  const values = (header(event, 'cookie') ?? '').split(';').flatMap((pair) => {
    // Only the first equals sign ends the name (RFC 6265, 4.1.1).
    const [name = '', ...parts] = pair.trim().split('=');
    const value = parts.join('=');
    return name === wanted && value !== '' ? [value] : [];
  });
  return values.length === 1 ? values[0] : undefined;
}

/**
 * Whether a page of this origin sent the request, by `Origin`, which pages cannot forge; `null` hides the
 * origin (RFC 6454, 7.3).
 * @param url any URL of the origin; without one the result is false
 */
export function isSameOrigin(event: APIGatewayProxyEvent, url: string | undefined): boolean {
  const origin = header(event, 'origin');
  // In the browsers' form: without path and default port.
  return origin !== undefined && origin !== 'null' && url !== undefined && origin === new URL(url).origin;
}

/**
 * Users with dashboard sessions (docs/specification.md, Authentication): a bearer token or the cookie.
 * Browsers send the cookie for requests of any site, so a write with it must come from a page of the
 * dashboard.
 * @param dashboardOrigin without it no write is accepted with a cookie
 */
export function sessionAuthentication(
  verify: (token: string) => Promise<Session | undefined>,
  dashboardOrigin: string | undefined,
): Authenticate {
  return async (event, { role, method }) => {
    const authorization = header(event, 'authorization');
    // Decided by form alone, so the response does not reveal whether the key exists.
    if (parseBearerKey(authorization) !== undefined) return refusals.keyForSession;
    const presented = findCredential(event, authorization);
    const session = presented && (await verify(presented.token));
    if (!presented || !session) return refusals.missingSession;
    const forged = presented.ambient && method !== 'GET' && !isSameOrigin(event, dashboardOrigin);
    const denied = forged
      ? refusals.foreignOrigin
      : role !== undefined && hasRole(session.role, role)
        ? undefined
        : refusals.adminsOnly;
    return {
      tenant: { orgId: session.orgId, generation: LIVE_GENERATION },
      bucket: { orgId: session.orgId, kind: 'dashboard' },
      session,
      actor: { type: 'user', id: session.userId, email: session.email },
      logged: { userId: session.userId },
      ...(denied === undefined ? {} : { denied }),
    };
  };
}

/** A bearer token is sent on purpose; the browser adds a cookie by itself. */
function findCredential(event: APIGatewayProxyEvent, authorization: string | undefined) {
  const bearer = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
  if (bearer !== undefined) return { token: bearer, ambient: false };
  // The cookie is not used when the request has another credential.
  if (authorization !== undefined) return undefined;
  const token = parseCookie(event, SESSION_COOKIE);
  return token === undefined ? undefined : { token, ambient: true };
}

type SettingsRoute = Parameters<typeof settingsPath>[0];

/** Whether a request used the settings path, by the gateway's resource, which callers cannot write. */
const isAtSettings = ({ resource }: APIGatewayProxyEvent, route: SettingsRoute): boolean =>
  resource !== undefined && resource === settingsPath(route);

/** Path of a resource in the caller's authentication mode. */
export const buildLocation = (event: APIGatewayProxyEvent, route: SettingsRoute, location: string): string =>
  isAtSettings(event, route) ? location.replace(/^\/api\/v\d+\//, '/api/settings/') : location;

/**
 * API keys or sessions: each path accepts its own mode only (docs/decisions/0016-dashboard.md). Users have no
 * sandbox keys: with `environment=sandbox` they act on their organization's sandbox by the same rule. Their
 * budget stays the dashboard's.
 * @param sessions loads session verification, which calls with keys do not need
 */
export function authenticateByMode(
  keys: Authenticate,
  sessions: () => Promise<Authenticate>,
  findSandbox: FindSandbox,
): Authenticate {
  /** @throws when the pairing is invalid: nothing is done for another organization's sandbox */
  async function findSandboxTenant({ orgId }: Tenant): Promise<Tenant | Problem> {
    const { pairing, sandbox } = await findSandbox(orgId);
    if (pairing === undefined) return refusals.noSandbox;
    const routing = routeToEnvironment({ orgId, environment: 'sandbox' }, pairing, sandbox);
    if (routing.kind === 'refused') throw new Defect('the pairing of an organization is invalid');
    return routing.tenant;
  }

  return async (event, route) => {
    if (!isAtSettings(event, route)) return keys(event, route);
    const caller = await (await sessions())(event, { ...route, role: route.dashboard });
    if (isProblem(caller) || caller.denied !== undefined) return caller;
    const environment = Environment.safeParse(event.queryStringParameters?.environment ?? 'live');
    if (!environment.success) return { ...caller, denied: UNKNOWN_ENVIRONMENT };
    if (environment.data === 'live') return caller;
    const tenant = await findSandboxTenant(caller.tenant);
    return { ...caller, ...(isProblem(tenant) ? { denied: tenant } : { tenant }) };
  };
}

const UNKNOWN_ENVIRONMENT = invalid({
  field: 'environment',
  code: 'not_allowed',
  message: 'must be one of live, sandbox',
});

/**
 * Untrusted visitors of a web widget, who can read one conversation and write in it. The response does not
 * say what is wrong with a token.
 * @param findState returns the current generation: a sandbox reset ends its visits
 * @param isErased whether the visit's conversation was erased, which ends the visit as well
 */
export function visitorAuthentication(
  findVisit: (token: string) => Promise<Visit | undefined>,
  findState: (orgId: Visit['orgId']) => Promise<{ generation: number } | undefined>,
  isErased: (visit: Visit) => Promise<boolean>,
): Authenticate {
  return async (event, { method }) => {
    const token = parseBearerVisitorToken(header(event, 'authorization'));
    const visit = token === undefined ? undefined : await findVisit(token);
    if (visit === undefined) return refusals.missingVisitorToken;
    const { orgId, generation, conversationId } = visit;
    const state = await findState(orgId);
    if (state?.generation !== generation || (await isErased(visit))) return refusals.missingVisitorToken;
    const budget = method === 'GET' ? 'visitor' : 'visitor-writes';
    return {
      tenant: { orgId, generation },
      conversationId,
      bucket: { orgId, kind: `${budget}/${conversationId}` },
      tier: budget,
      logged: { conversationId },
    };
  };
}
