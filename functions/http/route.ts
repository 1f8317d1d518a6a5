import * as z from 'zod/mini';
import type { Scope } from '../tenancy/api-keys.ts';
import type { AuditAction } from '../tenancy/audit.ts';
import type { Role } from '../tenancy/tenant.ts';
import type { Problem, ProblemType } from './problem.ts';

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

/**
 * A route that writes names the action that the audit log records for it; `none` is for writes of data, which
 * is no part of the set-up (docs/specification.md, Audit log).
 */
type Audited =
  | { readonly method: 'GET'; readonly audit?: 'none' }
  | { readonly method: 'POST' | 'PATCH' | 'DELETE'; readonly audit: AuditAction | 'none' };

/**
 * An announced end (docs/specification.md, Versioning). Every response of the route announces it, errors
 * included; from the sunset on the route answers 410 only.
 */
export interface Deprecation {
  /** `true`, or the time of the deprecation, ISO 8601. */
  readonly since: true | string;
  /** Time after which the route is no longer served, ISO 8601. */
  readonly sunset: string;
  /** URL of a migration guide. */
  readonly guide?: string;
}

export const NO_FIELDS = z.object({});

/** Response headers that announce the end (docs/specification.md, Versioning); none without one. */
export function buildDeprecationHeaders(deprecation: Deprecation | undefined): Record<string, string> {
  if (deprecation === undefined) return {};
  const { since, sunset, guide } = deprecation;
  // HTTP-dates (RFC 9110, 5.6.7).
  return {
    Deprecation: since === true ? 'true' : new Date(since).toUTCString(),
    Sunset: new Date(sunset).toUTCString(),
    ...(guide === undefined ? {} : { Link: `<${guide}>; rel="deprecation"` }),
  };
}

/** Accepted callers. One does not replace another. */
type Access =
  | {
      readonly scope: Scope;
      /** Role for the same operation with a session, at `settingsPath`; without it the route has none. */
      readonly dashboard?: Role;
      readonly role?: never;
      readonly visitor?: never;
    }
  | { readonly role: Role; readonly scope?: never; readonly dashboard?: never; readonly visitor?: never }
  | { readonly visitor: true; readonly scope?: never; readonly role?: never; readonly dashboard?: never };

type Declared = Access & Audited;

/**
 * A route of the table (`functions/api/routes.ts`): everything that gateway, handler and documentation share.
 */
export type Route = Declared & {
  /** Name of the function and its file. */
  readonly name: string;
  /** Below the stage, `/api`. */
  readonly path: `/v${number}/${string}` | `/settings/${string}`;
  /** `required`: refused without an `Idempotency-Key`. `honoured`: optional. Only on POST. */
  readonly idempotency?: 'required' | 'honoured';
  readonly deprecation?: Deprecation;
  /** Tokens charged before the request runs, by its parsed query; one without it. */
  tokens?(query: object): number;
  /** Of the path. Absent, like the others, when the route takes none. */
  readonly params?: z.ZodMiniType<Record<string, string>>;
  readonly query?: z.ZodMiniObject;
  /** A schema that accepts `undefined` makes the body optional. */
  readonly body?: z.ZodMiniType;
  readonly success: {
    readonly status: 200 | 201 | 202 | 204;
    /** Status when the resource is already as requested and nothing changes. */
    readonly unchanged?: 200;
    /** A list that can be followed: each page has a `followCursor` for items to come. */
    readonly followed?: true;
    /** Builds the response's `data`: fields that it does not name never leave the service. */
    readonly data: z.ZodMiniType;
  };
  /** Errors of the use case beyond those that follow from the facts above. */
  readonly refusals?: readonly ProblemType[];
};

type RefusalType<R extends Route> =
  | 'VALIDATION_ERROR'
  | 'SERVICE_UNAVAILABLE'
  | (R['path'] extends `${string}{${string}` ? 'NOT_FOUND' : never)
  | (R extends { readonly refusals: readonly (infer Type extends ProblemType)[] } ? Type : never);

type FieldsOf<S> = S extends z.ZodMiniType ? keyof NonNullable<z.output<S>> & string : never;

/** Problems that a route's use case may return: of types that the route declares, about its own fields. */
export type RefusalOf<R extends Route> = Problem<RefusalType<R>, FieldsOf<R['body'] | R['query']>>;

/** Browsers accept the prefix `__Host-` from this host only, over TLS, for all paths. */
export const SESSION_COOKIE = '__Host-session';

/**
 * Path of the same operation with a session (docs/decisions/0016-dashboard.md): below the unversioned
 * settings, with the rest of the path. Undefined without that authentication mode.
 */
export const settingsPath = ({
  path,
  dashboard,
}: Pick<Route, 'path' | 'dashboard'>): `/settings/${string}` | undefined =>
  dashboard === undefined ? undefined : `/settings/${path.replace(/^\/[^/]+\//, '')}`;
