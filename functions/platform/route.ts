import type * as z from 'zod/mini';
import type { Scope } from '../domain/api-key.ts';

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

/**
 * A route as the table declares it (`functions/api/routes.ts`): all that the gateway, the handler and the documentation have to
 * agree on.
 */
export interface Route {
  /** Names the function and its file. */
  readonly name: string;
  readonly method: Method;
  /** Below the stage, which is `/api`. */
  readonly path: `/v${number}/${string}`;
  readonly summary: string;
  readonly scope: Scope;
  /** `required`: a request without an `Idempotency-Key` is refused. `honoured`: it may have one. Only on POST. */
  readonly idempotency?: 'required' | 'honoured';
  readonly params: z.ZodMiniType<Record<string, string>>;
  readonly query: z.ZodMiniType<object>;
  /** Absent when the route takes no body. */
  readonly body?: z.ZodMiniType;
  readonly success: {
    readonly status: 200 | 201 | 202 | 204;
    /** *Builds* the answer's `data`: fields that it does not name never leave the service. */
    readonly data: z.ZodMiniType;
  };
}
