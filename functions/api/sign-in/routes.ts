import * as z from 'zod/mini';

/** A sign-in route, called by the dashboard's pages only; not part of the public API. */
export interface SignInRoute {
  /** Name of the function and its file. */
  readonly name: string;
  readonly method: 'POST' | 'DELETE';
  /** Below the stage, which is `/api`. */
  readonly path: `/session${string}`;
  readonly body?: z.ZodMiniType;
  readonly data: z.ZodMiniType;
}

const short = z.string().check(z.minLength(1), z.maxLength(2048));
const timestamp = z.pipe(
  z.date(),
  z.transform((date) => date.toISOString()),
);

export const beginSignIn = {
  name: 'begin-sign-in',
  method: 'POST',
  path: '/session/sign-in',
  body: z.object({
    returnTo: z.optional(short),
    loginHint: z.optional(z.string().check(z.minLength(1), z.maxLength(320))),
  }),
  data: z.object({ location: z.string() }),
} as const satisfies SignInRoute;

export const finishSignIn = {
  name: 'finish-sign-in',
  method: 'POST',
  path: '/session',
  body: z.object({ code: short, state: short }),
  data: z.object({ returnTo: z.string() }),
} as const satisfies SignInRoute;

export const renewSession = {
  name: 'renew-session',
  method: 'POST',
  path: '/session/renewal',
  data: z.object({ expiresAt: timestamp }),
} as const satisfies SignInRoute;

export const signOut = {
  name: 'sign-out',
  method: 'DELETE',
  path: '/session',
  data: z.object({ location: z.string() }),
} as const satisfies SignInRoute;
