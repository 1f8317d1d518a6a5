import type { APIGatewayProxyEvent } from 'aws-lambda';
import { TimedCache } from '../aws/cache.ts';
import type { ConversationId } from '../aws/ids.ts';
import type { ContextFields, Log } from '../aws/log-codes.ts';
import { Defect } from '../aws/logger.ts';
import { type ApiKey, hashApiKey, hasScope, parseBearerKey, type Scope } from '../tenancy/api-key.ts';
import type { AuditActor } from '../tenancy/audit.ts';
import type { RateBucket } from '../tenancy/keys.ts';
import { type Pairing, routeToEnvironment, type Sandbox } from '../tenancy/sandbox.ts';
import { Environment, LIVE_GENERATION, type Session, type Tenant } from '../tenancy/tenant.ts';
import { parseBearerVisitorToken, type Visit } from '../tenancy/visitor-token.ts';
import { invalid, type Problem, problem } from './problem.ts';
import type { Budget } from './rate-limit.ts';
import { getRowAhead, type ReadAhead } from './read-ahead.ts';
import { header } from './request.ts';
import { type Route, settingsPath } from './route.ts';

export interface Caller {
  /** Tenant whose data the request uses. */
  tenant: Tenant;
  /** The one conversation that a visitor may read. */
  conversationId?: ConversationId;
  bucket: RateBucket;
  /** Set when the caller determines it; otherwise the live organization's tier. */
  tier?: Budget;
  /** Records the use of the caller's key. Never rejects. */
  noteUse?(now: Date): Promise<void>;
  /** Undefined for visitors, who change no set-up. */
  actor?: AuditActor;
  /** Of a signed-in user. */
  session?: Session;
  /** Scopes of an API key; undefined for a caller without a key. */
  scopes?: readonly Scope[];
  /** Identifies the caller in logs. */
  logged: ContextFields;
  /** Set for an authenticated caller without permission. */
  denied?: Problem;
  /** Row of the tenant that was read with the caller's key (`readAhead`). */
  rowAhead?: Readonly<Record<string, unknown>>;
}

/** Authenticates the caller before the rest of the request is read. A problem when authentication fails. */
export type Authenticate = (
  event: APIGatewayProxyEvent,
  route: Pick<Route, 'scope' | 'role' | 'dashboard' | 'method' | 'path'>,
) => Promise<Caller | Problem>;

export interface Keys {
  find(digest: string): Promise<ApiKey | undefined>;
  /** Records the use of a key. Never rejects. */
  noteUse(key: ApiKey, now: Date): Promise<void>;
}

const REQUIRED_CREDENTIAL = {
  key: 'A valid API key is required: Authorization: Bearer ck_….',
  session: 'A valid dashboard session is required: Authorization: Bearer, or the session cookie.',
  visitor: 'A valid visitor token is required: Authorization: Bearer cvt_….',
};

/** The same response for every reason, so that it reveals no existing credential or organization. */
export const unauthenticated = (needed: keyof typeof REQUIRED_CREDENTIAL): Problem =>
  problem('AUTHENTICATION_ERROR', REQUIRED_CREDENTIAL[needed], {
    'WWW-Authenticate': 'Bearer realm="conversation-service"',
  });

/** Reads a live organization's pairing and its sandbox. */
export type FindSandbox = (
  liveOrgId: ApiKey['orgId'],
) => Promise<{ pairing: Pairing | undefined; sandbox: Sandbox | undefined }>;

type Identified = Pick<Caller, 'tenant' | 'bucket' | 'tier'>;

/**
 * Callers with API keys (docs/specification.md, Authentication). A sandbox key acts for its organization's
 * sandbox only; the pairing is read for each request, and a key without a valid pairing is answered like an
 * unknown one.
 * @param ahead reads keys instead of `keys`, each with a row of the request
 */
export function keyAuthentication(
  keys: Keys,
  findSandbox: FindSandbox,
  log: Log,
  ahead?: ReadAhead,
): Authenticate {
  async function identify(key: ApiKey): Promise<Identified | undefined> {
    const { orgId, environment } = key;
    if (environment === 'live')
      return { tenant: { orgId, generation: LIVE_GENERATION }, bucket: { orgId, kind: 'live' } };
    const { pairing, sandbox } = await findSandbox(orgId);
    const route = routeToEnvironment(key, pairing, sandbox);
    if (route.kind === 'refused') {
      log('SANDBOX_KEY_REFUSED', {
        keyId: key.id,
        liveOrgId: orgId,
        why: route.why,
      });
      return undefined;
    }
    const { tenant } = route;
    return { tenant, bucket: { orgId: tenant.orgId, kind: 'sandbox' }, tier: 'sandbox' };
  }

  return async (event, { scope }) => {
    const presented = parseBearerKey(header(event, 'authorization'));
    if (presented === undefined) return unauthenticated('key');
    const digest = hashApiKey(presented);
    const found = (await ahead?.find(digest, event)) ?? { key: await keys.find(digest) };
    const { key } = found;
    if (key === undefined || key.revokedAt !== undefined) return unauthenticated('key');
    const caller = await identify(key);
    if (caller === undefined) return unauthenticated('key');
    ahead?.note(digest, caller.tenant);
    const rowAhead = getRowAhead(found, caller.tenant);
    return {
      ...caller,
      ...(rowAhead && { rowAhead }),
      noteUse: (now) => keys.noteUse(key, now),
      scopes: key.scopes,
      actor: { type: 'api_key', id: key.id },
      logged: { keyId: key.id },
      ...(scope !== undefined && hasScope(key.scopes, scope)
        ? {}
        : { denied: problem('PERMISSION_DENIED', `The API key lacks the scope ${scope}.`) }),
    };
  };
}

export interface KeyUses {
  note(key: Pick<ApiKey, 'id' | 'orgId'>, now: Date, timeoutMs: number): Promise<void>;
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
export function keyUseRecorder(uses: KeyUses, log: Log) {
  const recorded = new TimedCache<ApiKey['id'], true>({ capacity: 1000, freshMs: INTERVAL_MS });
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

/*
 * Routes with two authentication modes, API key and session: one operation at two paths
 * (docs/decisions/0016-dashboard.md).
 */

/** Whether a request used the settings path, by the gateway's resource, which callers cannot write. */
const isAtSettings = (
  { resource }: Pick<APIGatewayProxyEvent, 'resource'>,
  route: Pick<Route, 'path' | 'dashboard'>,
): boolean => resource !== undefined && resource === settingsPath(route);

/** Path of a resource in the caller's authentication mode. */
export const buildLocation = (
  event: Pick<APIGatewayProxyEvent, 'resource'>,
  route: Pick<Route, 'path' | 'dashboard'>,
  location: string,
): string => (isAtSettings(event, route) ? location.replace(/^\/api\/v\d+\//, '/api/settings/') : location);

export interface AuthenticationModes {
  keys: Authenticate;
  /** Loads session verification, which calls with keys do not need. */
  sessions(): Promise<Authenticate>;
  findSandbox: FindSandbox;
}

/**
 * Each path accepts its own authentication mode only. Users have no sandbox keys: with `environment=sandbox`
 * they act on their organization's sandbox by the same rule. Their budget stays the dashboard's.
 */
export function authenticateByMode({ keys, sessions, findSandbox }: AuthenticationModes): Authenticate {
  async function switchEnvironment(caller: Caller, asked: string | undefined): Promise<Caller> {
    const environment = Environment.safeParse(asked ?? 'live');
    if (!environment.success)
      return {
        ...caller,
        denied: invalid({
          field: 'environment',
          code: 'not_allowed',
          message: 'must be one of live, sandbox',
        }),
      };
    if (environment.data === 'live') return caller;
    const found = await findTenant(caller.tenant.orgId);
    return 'kind' in found ? { ...caller, denied: found } : { ...caller, tenant: found };
  }

  /** @throws when the pairing is invalid: nothing is done for another organization's sandbox */
  async function findTenant(orgId: Caller['tenant']['orgId']): Promise<Caller['tenant'] | Problem> {
    const { pairing, sandbox } = await findSandbox(orgId);
    if (pairing === undefined)
      return problem('SANDBOX_NOT_PROVISIONED', 'The organization has no sandbox. Provision one first.');
    const found = routeToEnvironment({ orgId, environment: 'sandbox' }, pairing, sandbox);
    if (found.kind === 'refused') throw new Defect('the pairing of an organization is invalid');
    return found.tenant;
  }

  return async (event, route) => {
    if (!isAtSettings(event, route)) return keys(event, route);
    const authenticate = await sessions();
    const caller = await authenticate(event, { ...route, role: route.dashboard });
    if ('kind' in caller || caller.denied !== undefined) return caller;
    return switchEnvironment(caller, event.queryStringParameters?.environment);
  };
}

export interface VisitorAuthenticationOptions {
  /** Returns the visit of a token; undefined when it is invalid. */
  findVisit(token: string): Promise<Visit | undefined>;
  /** Current generations: a sandbox reset ends its visits. */
  organizations: { of(orgId: Visit['orgId']): Promise<{ generation: number } | undefined> };
}

/**
 * Untrusted visitors of a web widget, who can read one conversation. The response does not say what is wrong
 * with a token.
 */
export function visitorAuthentication({
  findVisit,
  organizations,
}: VisitorAuthenticationOptions): Authenticate {
  return async (event) => {
    const token = parseBearerVisitorToken(header(event, 'authorization'));
    const visit = token === undefined ? undefined : await findVisit(token);
    if (visit === undefined) return unauthenticated('visitor');
    const { orgId, generation, conversationId } = visit;
    const state = await organizations.of(orgId);
    if (state?.generation !== generation) return unauthenticated('visitor');
    return {
      tenant: { orgId, generation },
      conversationId,
      bucket: { orgId, kind: `visitor/${conversationId}` },
      tier: 'visitor',
      logged: { conversationId },
    };
  };
}
