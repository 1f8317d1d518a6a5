import { explainConnectionFailure } from 'terminal/connection-failure.ts';
import { UserError } from 'terminal/errors.ts';
import { z } from 'zod';

const REQUEST_TIMEOUT_MS = 30_000;
const ErrorEnvelope = z.object({ error: z.object({ type: z.string(), message: z.string() }) });

export interface ApiCall {
  method: string;
  /** Begins with `/api`. */
  path: string;
  /** API key or ID token. */
  bearer: string;
  body?: unknown;
  headers?: Record<string, string>;
  /** Aborts the call, which then throws its reason. */
  signal?: AbortSignal;
}

/** A response of the API. `requestId` finds the request in the functions' log. */
export interface ApiAnswer {
  status: number;
  requestId: string | undefined;
  headers: Headers;
  /** Undefined if not JSON. */
  body: unknown;
}

/** No response came. */
export class ApiUnreachable extends UserError {}

/**
 * Calls the API over HTTP, like a customer.
 * @param baseUrl without `/api`
 * @throws ApiUnreachable without a response
 */
export async function callApi(baseUrl: string, call: ApiCall): Promise<ApiAnswer> {
  const { method, path, bearer, body, headers, signal } = call;
  const deadline = AbortSignal.timeout(REQUEST_TIMEOUT_MS);
  try {
    const response = await fetch(`${baseUrl}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${bearer}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: signal === undefined ? deadline : AbortSignal.any([signal, deadline]),
    });
    const text = await response.text();
    return {
      status: response.status,
      requestId: response.headers.get('request-id') ?? undefined,
      headers: response.headers,
      body: parseJson(text),
    };
  } catch (error) {
    signal?.throwIfAborted();
    throw new ApiUnreachable(`The API at ${baseUrl} cannot be reached: ${explain(error)}`);
  }
}

/** @throws UserError with the API's error for another status */
export function expectStatus(answer: ApiAnswer, status: number, call: string): void {
  if (answer.status === status) return;
  throw new UserError(
    `${call} answered ${answer.status} (${saidBy(answer)}; Request-Id ${answer.requestId ?? 'missing'}).`,
  );
}

/** Error message in a response's envelope. */
function saidBy(answer: ApiAnswer): string {
  const envelope = ErrorEnvelope.safeParse(answer.body);
  return envelope.success ? `${envelope.data.error.type}: ${envelope.data.error.message}` : 'no envelope';
}

/** @throws UserError naming what does not match the schema */
export function readBody<T>(schema: z.ZodType<T>, answer: ApiAnswer, call: string): T {
  const parsed = schema.safeParse(answer.body);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new UserError(
    `${call} answered an unexpected body: ${issue?.path.join('.')}: ${issue?.message} (Request-Id ${answer.requestId ?? 'missing'}).`,
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function explain(error: unknown): string {
  if (error instanceof Error && error.name === 'TimeoutError')
    return `no answer within ${REQUEST_TIMEOUT_MS / 1000} s. Check that the server still runs, then try again.`;
  const { reason, advice } = explainConnectionFailure(error);
  return `${reason}. ${advice}`;
}
