import { explainConnectionFailure } from 'aws-local/connection-failure.ts';
import { LocalRunError } from 'aws-local/errors.ts';
import { z } from 'zod';

const REQUEST_TIMEOUT_MS = 30_000;
const ErrorEnvelope = z.object({ error: z.object({ type: z.string(), message: z.string() }) });

/** One call of the API. */
export interface ApiCall {
  method: string;
  /** From `/api` on. */
  path: string;
  /** An API key, or a person's token. */
  bearer: string;
  body?: unknown;
  headers?: Record<string, string>;
  /** Ends the call, which then throws its reason. */
  signal?: AbortSignal;
}

/** An answer of the API. `requestId` leads to the request in the functions' log. */
export interface ApiAnswer {
  status: number;
  requestId: string | undefined;
  headers: Headers;
  /** Undefined when it is no JSON. */
  body: unknown;
}

/** No answer came. */
export class ApiUnreachable extends LocalRunError {}

/**
 * Calls the API over HTTP, as a customer would.
 * @param baseUrl without `/api`
 * @throws ApiUnreachable when no answer comes
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
    throw new ApiUnreachable(`The API at ${baseUrl} cannot be reached: ${explain(error, baseUrl)}`);
  }
}

/** @throws LocalRunError with what the API said, when it answered another status */
export function expectStatus(answer: ApiAnswer, status: number, call: string): void {
  if (answer.status === status) return;
  throw new LocalRunError(
    `${call} answered ${answer.status} (${saidBy(answer)}; Request-Id ${answer.requestId ?? 'missing'}).`,
  );
}

/** What the error envelope of an answer says. */
export function saidBy(answer: ApiAnswer): string {
  const envelope = ErrorEnvelope.safeParse(answer.body);
  return envelope.success ? `${envelope.data.error.type}: ${envelope.data.error.message}` : 'no envelope';
}

/** @throws LocalRunError naming what is not as the schema says */
export function readBody<T>(schema: z.ZodType<T>, answer: ApiAnswer, call: string): T {
  const parsed = schema.safeParse(answer.body);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new LocalRunError(
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

function explain(error: unknown, baseUrl: string): string {
  if (error instanceof Error && error.name === 'TimeoutError')
    return `no answer within ${REQUEST_TIMEOUT_MS / 1000} s. Check that the server still runs, then try again.`;
  const { code, reason, advice } = explainConnectionFailure(error);
  const isStopped = code === 'ECONNREFUSED' && URL.parse(baseUrl)?.hostname === 'localhost';
  return `${reason}. ${isStopped ? 'Start it with npm start.' : advice}`;
}
