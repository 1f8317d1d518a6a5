import type { APIGatewayProxyEvent } from 'aws-lambda';
import { Defect } from '../../domain/errors.ts';
import { type Problem, problem } from '../../domain/problem.ts';
import { routed } from '../../domain/sandbox.ts';
import { Environment } from '../../domain/tenant.ts';
import { type Route, settingsPath } from '../route.ts';
import type { Authenticate, Caller, FindSandbox } from './authentication.ts';

/*
 * Routes with a door for keys and one for people (docs/decisions/0016-dashboard.md): the same operation at two paths.
 */

/** Whether a request came by the settings. The gateway says so by the resource that it has found: nothing that the caller can write. */
const isAtSettings = (
  { resource }: Pick<APIGatewayProxyEvent, 'resource'>,
  route: Pick<Route, 'path' | 'dashboard'>,
): boolean => resource !== undefined && resource === settingsPath(route);

/** A path of the API as the caller's door has it. */
export const locationAt = (
  event: Pick<APIGatewayProxyEvent, 'resource'>,
  route: Pick<Route, 'path' | 'dashboard'>,
  location: string,
): string => (isAtSettings(event, route) ? location.replace(/^\/api\/v\d+\//, '/api/settings/') : location);

export interface Doors {
  keys: Authenticate;
  /** Loads what verifies sessions, which calls with keys do without. */
  sessions(): Promise<Authenticate>;
  findSandbox: FindSandbox;
}

/**
 * Each door takes its own kind of caller and no other. People have no sandbox keys: with `environment=sandbox` they act on the sandbox of their
 * organization, by the rule by which its keys do. Their budget stays that of the dashboard.
 */
export function doorAuthentication({ keys, sessions, findSandbox }: Doors): Authenticate {
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
    const found = routed({ orgId, environment: 'sandbox' }, pairing, sandbox);
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
