import * as z from 'zod/mini';
import { NO_FIELDS, type Route, settingsPath } from '../../functions/http/route.ts';
import { Environment } from '../../functions/tenancy/tenant.ts';
import type { OperationText } from './operation-text.ts';

/**
 * A route with the other way of authenticating (docs/decisions/0016-dashboard.md): the same operation with a
 * session, and with the environment as a parameter. Undefined where there is none.
 */
export function buildSessionRoute(route: Route): Route | undefined {
  const path = settingsPath(route);
  if (path === undefined || route.dashboard === undefined) return undefined;
  const { scope, dashboard, visitor, query = NO_FIELDS, ...facts } = route;
  return {
    ...facts,
    path,
    role: dashboard,
    query: z.extend(query, { environment: z.optional(Environment) }),
    refusals: [...(facts.refusals ?? []), 'SANDBOX_NOT_PROVISIONED'],
  };
}

/** `listWebhooks` is `listWebhooksWithSession`. */
export const getSessionOperationId = (operationId: string): string => `${operationId}WithSession`;

/** The routes with all their ways of authenticating, by operation id. The gateway serves these. */
export const withSessionRoutes = (routes: Readonly<Record<string, Route>>): Record<string, Route> => ({
  ...routes,
  ...Object.fromEntries(
    Object.entries(routes).flatMap(([operationId, route]) => {
      const second = buildSessionRoute(route);
      return second === undefined ? [] : [[getSessionOperationId(operationId), second]];
    }),
  ),
});

/** The text of an operation that is called with a session. */
export const buildSessionText = ({ location, ...text }: OperationText): OperationText => ({
  ...text,
  description: `${text.description}\n\nWith \`environment=sandbox\` it fails with \`SANDBOX_NOT_PROVISIONED\` if there is no sandbox.`,
  ...(location === undefined ? {} : { location: location.replace('/api/v1/', '/api/settings/') }),
});
