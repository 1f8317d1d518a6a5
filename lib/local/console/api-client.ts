import { z } from 'zod';
import { LocalRunError } from '../errors.ts';

const REQUEST_TIMEOUT_MS = 30_000;

/** An answer of the API. `requestId` leads to the request in the functions' log. */
export interface ApiAnswer {
  status: number;
  requestId: string | undefined;
  body: unknown;
}

const ErrorEnvelope = z.object({ error: z.object({ type: z.string(), message: z.string() }) });
const Registered = z.object({ data: z.object({ id: z.string(), secret: z.string() }) });
const Created = z.object({ data: z.object({ id: z.string() }) });
const Deliveries = z.object({
  data: z.array(z.object({ id: z.string(), status: z.string(), lastError: z.nullable(z.string()) })),
});

/** A delivery as the API lists it, in part. */
export type ListedDelivery = z.infer<typeof Deliveries>['data'][number];

/** The part of the public API that the console calls, as a customer would: over HTTP, with an API key. */
export class ApiClient {
  readonly baseUrl: string;
  readonly #key: string;

  /** @param baseUrl without `/api/v1` */
  constructor(baseUrl: string, key: string) {
    this.baseUrl = baseUrl;
    this.#key = key;
  }

  /** Whether the API takes the key. */
  async acceptsKey(): Promise<boolean> {
    const answer = await this.#request('GET', '/webhooks');
    if (answer.status === 401) return false;
    expectStatus(answer, 200, 'GET /api/v1/webhooks');
    return true;
  }

  /** @returns the endpoint's id and its signing secret */
  async registerEndpoint(
    endpoint: { url: string; events: readonly string[] },
    idempotencyKey: string,
  ): Promise<{ id: string; secret: string }> {
    const answer = await this.#request('POST', '/webhooks', endpoint, { 'idempotency-key': idempotencyKey });
    expectStatus(answer, 201, 'POST /api/v1/webhooks');
    return read(Registered, answer, 'POST /api/v1/webhooks').data;
  }

  async deleteEndpoint(id: string): Promise<void> {
    expectStatus(await this.#request('DELETE', `/webhooks/${id}`), 204, `DELETE /api/v1/webhooks/${id}`);
  }

  /** @returns the id of the new conversation */
  async createConversation(conversation: { channelId: string; externalUserId: string }): Promise<string> {
    const answer = await this.#request('POST', '/conversations', conversation);
    expectStatus(answer, 201, 'POST /api/v1/conversations');
    return read(Created, answer, 'POST /api/v1/conversations').data.id;
  }

  async deliveriesOf(endpointId: string): Promise<ListedDelivery[]> {
    const path = `/webhooks/${endpointId}/deliveries`;
    const answer = await this.#request('GET', path);
    expectStatus(answer, 200, `GET /api/v1${path}`);
    return read(Deliveries, answer, `GET /api/v1${path}`).data;
  }

  async #request(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<ApiAnswer> {
    try {
      const response = await fetch(`${this.baseUrl}/api/v1${path}`, {
        method,
        headers: {
          authorization: `Bearer ${this.#key}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        body: body === undefined ? undefined : JSON.stringify(body),
        signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
      });
      const text = await response.text();
      return {
        status: response.status,
        requestId: response.headers.get('request-id') ?? undefined,
        body: parseJson(text),
      };
    } catch (error) {
      throw new LocalRunError(`The API at ${this.baseUrl} cannot be reached: ${reason(error)}.`);
    }
  }
}

function expectStatus(answer: ApiAnswer, status: number, call: string): void {
  if (answer.status === status) return;
  const envelope = ErrorEnvelope.safeParse(answer.body);
  const said = envelope.success
    ? `${envelope.data.error.type}: ${envelope.data.error.message}`
    : 'no envelope';
  throw new LocalRunError(
    `${call} answered ${answer.status} (${said}; Request-Id ${answer.requestId ?? 'missing'}).`,
  );
}

function read<T>(schema: z.ZodType<T>, answer: ApiAnswer, call: string): T {
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

/** `fetch` says only "fetch failed"; its cause says why. */
function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause;
  if (cause instanceof Error && 'code' in cause) {
    return cause.code === 'ECONNREFUSED' ? 'nothing listens there (npm start starts it)' : String(cause.code);
  }
  return error.name === 'TimeoutError' ? `no answer within ${REQUEST_TIMEOUT_MS / 1000} s` : error.message;
}
