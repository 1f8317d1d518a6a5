import createClient from 'openapi-fetch';
import { failureOf, unreachable } from './failures.ts';
import type { components, paths } from './schema.gen.ts';
import { timeAsked } from './service-clock.ts';
import { session } from './session.ts';

/** An entity of the API, as its OpenAPI document names it. */
export type Schema<Name extends keyof components['schemas']> = components['schemas'][Name];

/** Which of the organization's two halves something is about. */
export type Environment = 'live' | 'sandbox';

/**
 * Sends a request with the session's cookie. When the session has expired, the request is repeated after the
 * next sign-in, so that no input is lost.
 */
async function withSession(request: Request): Promise<Response> {
  for (let refused = 0; ; refused += 1) {
    const response = await fetch(request.clone()).catch((error: unknown) => {
      throw unreachable(error);
    });
    if (response.status !== 401) return response;
    // A renewed session that is refused again would be renewed forever; then the user must sign in.
    await session.regained(refused === 0 ? 'renewed' : 'signed in');
  }
}

/** The API, typed by its OpenAPI document. */
export const api = createClient<paths>({ baseUrl: window.location.origin, fetch: withSession });

/**
 * The body of a successful answer.
 * @throws ApiFailure for any other
 */
export async function answerTo<Body>(
  call: Promise<{ data?: Body; error?: unknown; response: Response }>,
): Promise<Body> {
  const { data, error, response } = await call;
  if (!response.ok) throw failureOf(response, error);
  return data as Body;
}

/** The `data` of a successful answer. @throws ApiFailure */
export const dataOf = async <Data>(
  call: Promise<{ data?: { data: Data }; error?: unknown; response: Response }>,
): Promise<Data> => (await answerTo(call)).data;

/**
 * The body of a successful answer, and the service's time when it was asked for, or up to a second before.
 * @throws ApiFailure
 */
export async function timed<Body>(
  call: Promise<{ data?: Body; error?: unknown; response: Response }>,
): Promise<Body & { at: number }> {
  const asked = performance.now();
  const answer = await call;
  const at = timeAsked(answer.response, performance.now() - asked);
  return { ...(await answerTo(Promise.resolve(answer))), at };
}
