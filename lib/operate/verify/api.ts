import { harmless } from 'terminal/format.ts';
import * as z from 'zod';
import type { ProblemType } from '../../../functions/http/problem.ts';
import { PROBLEM_STATUS } from '../../../functions/http/problem.ts';
import { CheckFailed } from './check.ts';

/** Longer than API Gateway's integration timeout. */
const REQUEST_TIMEOUT_MS = 35_000;
/** Characters shown of an unexpected response. */
const SHOWN = 200;

export interface Call {
  method: string;
  /** Relative to the API's URL, such as `v1/webhooks`. */
  path: string;
  /** API key, session token or visitor token. */
  bearer?: string;
  /** Sent as JSON. */
  body?: unknown;
  headers?: Readonly<Record<string, string>>;
}

export interface Answer {
  /** For messages: `GET /api/v1/webhooks`. */
  call: string;
  status: number;
  headers: Headers;
  text: string;
  /** Undefined if not JSON. */
  body: unknown;
}

export type CallApi = (call: Call) => Promise<Answer>;

/** @param url output `ApiUrl`: the API with its stage */
export function apiAt(url: string): CallApi {
  const base = url.replace(/\/+$/, '');
  return async ({ method, path, bearer, body, headers }) => {
    const response = await fetch(`${base}/${path}`, {
      method,
      headers: {
        ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      redirect: 'manual',
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    });
    const text = await response.text();
    const call = `${method} ${URL.parse(`${base}/${path}`)?.pathname ?? path}`;
    return { call, status: response.status, headers: response.headers, text, body: parseJson(text) };
  };
}

const Envelope = z.object({
  error: z.object({ type: z.string(), message: z.string(), requestId: z.string() }),
});

/**
 * The `data` of a successful response.
 * @throws CheckFailed with the response otherwise
 */
export function dataOf<T>(answer: Answer, status: number, schema: z.ZodType<T>): T {
  expectStatus(answer, status);
  const parsed = z.object({ success: z.literal(true), data: schema }).safeParse(answer.body);
  if (parsed.success) return parsed.data.data;
  const [issue] = parsed.error.issues;
  throw new CheckFailed(
    `${answer.call} answered ${status} with an unexpected body: ${issue?.path.join('.')}: ${issue?.message}${readRequestId(answer)}.`,
  );
}

/** @throws CheckFailed for another status, or without `Request-Id` */
export function expectStatus(answer: Answer, status: number): void {
  if (answer.status !== status)
    throw new CheckFailed(
      `${answer.call} answered ${answer.status} instead of ${status}: ${saidBy(answer)}${readRequestId(answer)}.`,
    );
  if (!answer.headers.has('request-id'))
    throw new CheckFailed(`${answer.call} answered ${status} without a Request-Id.`);
}

/** @throws CheckFailed unless the response is this error in the API's envelope */
export function expectProblem(answer: Answer, type: ProblemType): string {
  const status = PROBLEM_STATUS[type];
  expectStatus(answer, status);
  const envelope = Envelope.safeParse(answer.body);
  if (!envelope.success)
    throw new CheckFailed(`${answer.call} answered ${status} without the error envelope: ${saidBy(answer)}.`);
  const { error } = envelope.data;
  if (error.type !== type)
    throw new CheckFailed(
      `${answer.call} answered ${status} with the type ${error.type} instead of ${type}.`,
    );
  if (error.requestId !== answer.headers.get('request-id'))
    throw new CheckFailed(`${answer.call} answered ${status} with two different request ids.`);
  return `${status} ${type}`;
}

function saidBy({ body, text }: Answer): string {
  const envelope = Envelope.safeParse(body);
  if (envelope.success) return `${envelope.data.error.type}: ${harmless(envelope.data.error.message)}`;
  if (text === '') return 'an empty body';
  return harmless(text.slice(0, SHOWN)).replaceAll('\n', ' ');
}

function readRequestId({ headers }: Answer): string {
  const id = headers.get('request-id');
  return id === null ? '' : ` (Request-Id ${id})`;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
