import type * as z from 'zod/mini';
import type { Scope } from '../domain/api-key.ts';
import type { ProblemType } from '../domain/problem.ts';
import type { Role } from '../domain/tenant.ts';

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

/**
 * An announced end (public-api.md, Versioning 5). Every answer of the route says so, errors included, and
 * from the sunset on the route answers nothing but 410.
 */
export interface Deprecation {
  /** `true`, or the moment from which the route is deprecated, ISO 8601. */
  readonly since: true | string;
  /** The moment after which the route is no longer served, ISO 8601. */
  readonly sunset: string;
  /** Address of a migration guide. */
  readonly guide?: string;
}

/**
 * Who may call: a key with a scope, a person's session with a role, or a visitor of a web widget with the
 * token of a conversation. None is accepted in another's place.
 */
type Access =
  | {
      readonly scope: Scope;
      /**
       * The role that a person needs for the same at the second door, `settingsPath`; without one the route
       * has none.
       */
      readonly dashboard?: Role;
      readonly role?: never;
      readonly visitor?: never;
    }
  | { readonly role: Role; readonly scope?: never; readonly dashboard?: never; readonly visitor?: never }
  | { readonly visitor: true; readonly scope?: never; readonly role?: never; readonly dashboard?: never };

/**
 * A route as the table declares it (`functions/api/routes.ts`): all that the gateway, the handler and the
 * documentation have to agree on.
 */
export type Route = Access & {
  /** Names the function and its file. */
  readonly name: string;
  readonly method: Method;
  /** Below the stage, which is `/api`. */
  readonly path: `/v${number}/${string}` | `/settings/${string}`;
  readonly summary: string;
  /**
   * `required`: a request without an `Idempotency-Key` is refused. `honoured`: it may have one. Only on POST.
   */
  readonly idempotency?: 'required' | 'honoured';
  readonly deprecation?: Deprecation;
  /**
   * Tokens that a request is charged before it runs, by its parsed query, where it will probably cost more
   * than one.
   */
  tokens?(query: object): number;
  readonly params: z.ZodMiniType<Record<string, string>>;
  readonly query: z.ZodMiniType<object>;
  /** Absent when the route takes no body. One that accepts `undefined` may be left out of the request. */
  readonly body?: z.ZodMiniType;
  readonly success: {
    readonly status: 200 | 201 | 202 | 204;
    /** *Builds* the answer's `data`: fields that it does not name never leave the service. */
    readonly data: z.ZodMiniType;
  };
  /** What the use case itself may refuse with, beyond what follows from the facts above. */
  readonly refusals?: readonly ProblemType[];
};

/**
 * Where people with sessions find the same operation (docs/decisions/0016-dashboard.md): below the settings,
 * which have no version, with the same rest of the path. Undefined where there is no such door.
 */
export const settingsPath = ({
  path,
  dashboard,
}: Pick<Route, 'path' | 'dashboard'>): `/settings/${string}` | undefined =>
  dashboard === undefined ? undefined : `/settings/${path.replace(/^\/[^/]+\//, '')}`;
