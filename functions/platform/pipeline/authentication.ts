import type { APIGatewayProxyEvent } from 'aws-lambda';
import { type ApiKey, hashApiKey, hasScope, parseBearerKey } from '../../domain/api-key.ts';
import type { ConversationId } from '../../domain/ids.ts';
import { Defect, type Problem, problem } from '../../domain/problem.ts';
import type { Budget, RateBucket } from '../../domain/rate-limit.ts';
import { type Pairing, routeToEnvironment, type Sandbox } from '../../domain/sandbox.ts';
import { Environment, LIVE_GENERATION, type Session, type Tenant } from '../../domain/tenant.ts';
import { parseBearerVisitorToken, type Visit } from '../../domain/visitor-token.ts';
import type { ContextFields, Log } from '../log-codes.ts';
import { type Route, settingsPath } from '../route.ts';
import { header } from './request.ts';

/** Who calls, once that is established. */
export interface Caller {
  /** Whose data the request acts on; nothing else says so. */
  tenant: Tenant;
  /** All of it that a visitor may see. */
  conversationId?: ConversationId;
  bucket: RateBucket;
  /** Where it follows from who calls. Elsewhere the organization says it, which must then be a live one. */
  tier?: Budget;
  /** Notes that the caller's key is used; whose it is stays in there. Never rejects. */
  noteUse?(now: Date): Promise<void>;
  /** Of a person. */
  session?: Session;
  /** Names the caller in the logs. */
  logged: ContextFields;
  /** A caller who is known, and may not do this. */
  denied?: Problem;
}

/**
 * Establishes who calls, before anything else of the request is looked at. A problem when nobody that is
 * known.
 */
export type Authenticate = (
  event: APIGatewayProxyEvent,
  route: Pick<Route, 'scope' | 'role' | 'dashboard' | 'method' | 'path'>,
) => Promise<Caller | Problem>;

export interface Keys {
  /** Finds a key by its digest. */
  find(digest: string): Promise<ApiKey | undefined>;
  /** Notes that a key is used. Never rejects. */
  noteUse(key: ApiKey, now: Date): Promise<void>;
}

const NEEDED = {
  key: 'A valid API key is required: Authorization: Bearer ck_….',
  session: 'A valid dashboard session is required: Authorization: Bearer, or its cookie.',
  visitor: 'A valid visitor token is required: Authorization: Bearer cvt_….',
};

/** One answer to every reason, so that it tells nothing of which credentials and organizations exist. */
export const unauthenticated = (needed: keyof typeof NEEDED): Problem =>
  problem('AUTHENTICATION_ERROR', NEEDED[needed], {
    'WWW-Authenticate': 'Bearer realm="conversation-service"',
  });

/** Reads the pairing of a live organization, and the sandbox that it names. */
export type FindSandbox = (
  liveOrgId: ApiKey['orgId'],
) => Promise<{ pairing: Pairing | undefined; sandbox: Sandbox | undefined }>;

/** What a key is good for, whatever it may do there. */
type Identified = Pick<Caller, 'tenant' | 'bucket' | 'tier'>;

/**
 * Callers with API keys (public-api.md, Authentication). A sandbox key acts as its own live organization's
 * sandbox and as nothing else; the pairing is read for each request, and a key for which it does not hold is
 * answered like one that does not exist.
 */
export function keyAuthentication(keys: Keys, findSandbox: FindSandbox, log: Log): Authenticate {
  async function identified(key: ApiKey): Promise<Identified | undefined> {
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
    const key = presented === undefined ? undefined : await keys.find(hashApiKey(presented));
    if (key === undefined || key.revokedAt !== undefined) return unauthenticated('key');
    const caller = await identified(key);
    if (caller === undefined) return unauthenticated('key');
    return {
      ...caller,
      noteUse: (now) => keys.noteUse(key, now),
      logged: { keyId: key.id },
      ...(scope !== undefined && hasScope(key.scopes, scope)
        ? {}
        : { denied: problem('PERMISSION_DENIED', `The API key lacks the scope ${scope}.`) }),
    };
  };
}

/** Keeps when keys were last used. */
export interface KeyUses {
  note(key: Pick<ApiKey, 'id' | 'orgId'>, now: Date, timeoutMs: number): Promise<void>;
}

/** A key's use is noted at most so often by an instance, so that it costs next to nothing. */
const EVERY_MS = 5 * 60_000;
/** As for the rate limiter, beside which it happens: neither may be what makes the service slow. */
const TIMEOUT_MS = 500;
/** Keys that an instance remembers at most. */
const REMEMBERED = 1000;

/**
 * Notes that a key is used. Nobody is refused because it could not be noted, and a table that failed is left
 * alone until the next time comes: what is lost is some minutes of what is shown.
 * @returns gives a promise that is never rejected
 */
export function keyUseRecorder(uses: KeyUses, log: Log) {
  const noted = new Map<ApiKey['id'], number>();
  return async (key: Pick<ApiKey, 'id' | 'orgId'>, now: Date): Promise<void> => {
    const last = noted.get(key.id);
    if (last !== undefined && now.getTime() - last < EVERY_MS) return;
    if (noted.size >= REMEMBERED) noted.clear();
    noted.set(key.id, now.getTime());
    try {
      await uses.note(key, now, TIMEOUT_MS);
    } catch (error) {
      log('KEY_USE_NOT_NOTED', { error });
    }
  };
}

/*
 * Routes with a door for keys and one for people (docs/decisions/0016-dashboard.md): the same operation at
 * two paths.
 */

/**
 * Whether a request came by the settings. The gateway says so by the resource that it has found: nothing that
 * the caller can write.
 */
const isAtSettings = (
  { resource }: Pick<APIGatewayProxyEvent, 'resource'>,
  route: Pick<Route, 'path' | 'dashboard'>,
): boolean => resource !== undefined && resource === settingsPath(route);

/** A path of the API as the caller's door has it. */
export const buildLocation = (
  event: Pick<APIGatewayProxyEvent, 'resource'>,
  route: Pick<Route, 'path' | 'dashboard'>,
  location: string,
): string => (isAtSettings(event, route) ? location.replace(/^\/api\/v\d+\//, '/api/settings/') : location);

export interface AuthenticationModes {
  keys: Authenticate;
  /** Loads what verifies sessions, which calls with keys do without. */
  sessions(): Promise<Authenticate>;
  findSandbox: FindSandbox;
}

/**
 * Each door takes its own kind of caller and no other. People have no sandbox keys: with
 * `environment=sandbox` they act on the sandbox of their organization, by the rule by which its keys do.
 * Their budget stays that of the dashboard.
 */
export function authenticateByMode({ keys, sessions, findSandbox }: AuthenticationModes): Authenticate {
  async function inEnvironment(caller: Caller, asked: string | undefined): Promise<Caller> {
    const environment = Environment.safeParse(asked ?? 'live');
    if (!environment.success)
      return { ...caller, denied: problem('VALIDATION_ERROR', 'environment must be one of live, sandbox.') };
    if (environment.data === 'live') return caller;
    const found = await sandboxOf(caller.tenant.orgId);
    return 'kind' in found ? { ...caller, denied: found } : { ...caller, tenant: found };
  }

  /** @throws when the pairing does not hold: nothing is done to another organization's sandbox */
  async function sandboxOf(orgId: Caller['tenant']['orgId']): Promise<Caller['tenant'] | Problem> {
    const { pairing, sandbox } = await findSandbox(orgId);
    if (pairing === undefined)
      return problem('SANDBOX_NOT_PROVISIONED', 'The organization has no sandbox: provision it first.');
    const found = routeToEnvironment({ orgId, environment: 'sandbox' }, pairing, sandbox);
    if (found.kind === 'refused') throw new Defect('the pairing of an organization does not hold');
    return found.tenant;
  }

  return async (event, route) => {
    if (!isAtSettings(event, route)) return keys(event, route);
    const authenticate = await sessions();
    const caller = await authenticate(event, { ...route, role: route.dashboard });
    if ('kind' in caller || caller.denied !== undefined) return caller;
    return inEnvironment(caller, event.queryStringParameters?.environment);
  };
}

export interface VisitorAuthenticationOptions {
  /** The visit that a token stands for now, or undefined when it stands for none. */
  visitOf(token: string): Promise<Visit | undefined>;
  /** Whose data is current: a reset of a sandbox ends its visits. */
  organizations: { of(orgId: Visit['orgId']): Promise<{ generation: number } | undefined> };
}

/**
 * Visitors of a web widget, who may be anybody and see one conversation. What is wrong with a token is told
 * to nobody.
 */
export function visitorAuthentication({
  visitOf,
  organizations: standings,
}: VisitorAuthenticationOptions): Authenticate {
  return async (event) => {
    const token = parseBearerVisitorToken(header(event, 'authorization'));
    const visit = token === undefined ? undefined : await visitOf(token);
    if (visit === undefined) return unauthenticated('visitor');
    const { orgId, generation, conversationId } = visit;
    const standing = await standings.of(orgId);
    if (standing?.generation !== generation) return unauthenticated('visitor');
    return {
      tenant: { orgId, generation },
      conversationId,
      bucket: { orgId, kind: `visitor/${conversationId}` },
      tier: 'visitor',
      logged: { conversationId },
    };
  };
}
