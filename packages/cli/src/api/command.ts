import { Argument } from '@commander-js/extra-typings';
import { matching, refuse } from 'terminal/command-line.ts';
import { z } from 'zod';
import { ApiError, type ErrorType, ResponseError } from '../../../sdk/src/index.ts';
import { type ApiAnswer, callApi } from '../api-call.ts';
import { connect } from '../connection/connect.ts';
import type { Context } from '../context.ts';
import { CommandError } from '../errors.ts';
import { apiCommand } from '../flags.ts';
import { runCommand } from '../run.ts';

const METHODS = ['GET', 'POST', 'PATCH', 'DELETE'] as const;

const parseBody = (given: string): unknown => {
  try {
    return JSON.parse(given);
  } catch {
    return refuse('JSON');
  }
};

export const apiRequestCommand = () =>
  apiCommand('api', 'Sends a request to the API and prints the body of the response.', [
    'api GET /api/v1/webhooks',
    `api POST /api/v1/conversations '{"channelId":"web","externalUserId":"ada"}' --field data.id`,
  ])
    .addArgument(new Argument('<method>').choices(METHODS))
    .argument(
      '<path>',
      'path with its query: /api/v1/…',
      matching(/^\/api\//, 'a path that begins with /api/'),
    )
    .argument('[body]', 'JSON of the request', parseBody)
    .option('--field <name>', 'print only this field: data.id, or data.0.id of a list');

type Flags = ReturnType<ReturnType<typeof apiRequestCommand>['opts']>;

export const runApi = (
  request: { method: (typeof METHODS)[number]; path: string; body: unknown },
  { field, ...flags }: Flags,
  context: Context,
): Promise<number> =>
  runCommand(flags, context, async ({ result }) => {
    const { baseUrl, key } = await connect(flags, context);
    const { method } = request;
    const headers: Record<string, string> =
      method === 'POST' ? { 'idempotency-key': crypto.randomUUID() } : {};
    const answer = await callApi(baseUrl, { ...request, bearer: key, headers, signal: context.signal });
    if (answer.status === 204) return;
    const body = bodyOf(answer);
    const value = field === undefined ? body : fieldOf(body, field);
    result(value, () => (typeof value === 'string' ? value : JSON.stringify(value)));
  });

const Body = z.record(z.string(), z.unknown());
const Failure = z.object({
  error: z.object({
    type: z.string(),
    message: z.string(),
    details: z.array(z.object({ field: z.string(), code: z.string(), message: z.string() })).optional(),
  }),
});

/** @throws ApiError, or ResponseError for what is not a response of the API */
function bodyOf({ status, requestId, body }: ApiAnswer): z.infer<typeof Body> {
  const failure = Failure.safeParse(body);
  if (failure.success) {
    const { type, message, details = [] } = failure.data.error;
    throw new ApiError({
      status,
      type: type as ErrorType,
      message,
      requestId,
      details,
      retryAfterSeconds: undefined,
    });
  }
  const parsed = Body.safeParse(body);
  if (status < 300 && parsed.success) return parsed.data;
  throw new ResponseError(`The response with status ${status} is not one of the API.`, { status, requestId });
}

/** @throws CommandError when the response lacks the field */
function fieldOf(body: unknown, path: string): unknown {
  const value = path
    .split('.')
    .reduce<unknown>((parent, name) => (Object(parent) as Record<string, unknown>)[name], body);
  if (value === undefined) throw new CommandError('FAILED', `The response has no ${path}.`);
  return value;
}
