import { z } from 'zod';
import {
  type ApiAnswer,
  type ApiCall,
  callApi,
  expectStatus,
  readBody,
} from '../../packages/cli/src/api-call.ts';

const Registered = z.object({ data: z.object({ id: z.string(), secret: z.string() }) });
const Changed = z.object({ data: z.object({ status: z.string() }) });
const Created = z.object({ data: z.object({ id: z.string() }) });
const Deliveries = z.object({
  data: z.array(z.object({ id: z.string(), status: z.string(), lastError: z.nullable(z.string()) })),
});

/** Part of a delivery in the API's list. */
export type ListedDelivery = z.infer<typeof Deliveries>['data'][number];

/** Calls that the console makes to the public API over HTTP with an API key. */
export class ApiClient {
  readonly baseUrl: string;
  readonly #key: string;

  /** @param baseUrl without `/api/v1` */
  constructor(baseUrl: string, key: string) {
    this.baseUrl = baseUrl;
    this.#key = key;
  }

  /** Whether the key is valid. The API counts requests of valid keys only. */
  async acceptsKey(): Promise<boolean> {
    const answer = await this.#request('GET', '/webhooks');
    if (answer.status === 401) return false;
    if (answer.status !== 429) expectStatus(answer, 200, 'GET /api/v1/webhooks');
    return true;
  }

  /** @returns the endpoint's id and signing secret */
  async registerEndpoint(
    endpoint: { url: string; events: readonly string[]; description?: string },
    idempotencyKey: string,
  ): Promise<{ id: string; secret: string }> {
    const answer = await this.#request('POST', '/webhooks', endpoint, { 'idempotency-key': idempotencyKey });
    expectStatus(answer, 201, 'POST /api/v1/webhooks');
    return readBody(Registered, answer, 'POST /api/v1/webhooks').data;
  }

  /** @returns whether the endpoint is there and active; it has the URL then */
  async moveEndpoint(id: string, url: string): Promise<boolean> {
    const answer = await this.#request('PATCH', `/webhooks/${id}`, { url });
    if (answer.status === 404) return false;
    expectStatus(answer, 200, `PATCH /api/v1/webhooks/${id}`);
    return readBody(Changed, answer, `PATCH /api/v1/webhooks/${id}`).data.status === 'active';
  }

  /** @returns the conversation's id */
  async createConversation(conversation: { channelId: string; externalUserId: string }): Promise<string> {
    const answer = await this.#request('POST', '/conversations', conversation);
    expectStatus(answer, 201, 'POST /api/v1/conversations');
    return readBody(Created, answer, 'POST /api/v1/conversations').data.id;
  }

  async deliveriesOf(endpointId: string): Promise<ListedDelivery[]> {
    const path = `/webhooks/${endpointId}/deliveries`;
    const answer = await this.#request('GET', path);
    expectStatus(answer, 200, `GET /api/v1${path}`);
    return readBody(Deliveries, answer, `GET /api/v1${path}`).data;
  }

  #request(method: string, path: string, body?: unknown, headers?: ApiCall['headers']): Promise<ApiAnswer> {
    return callApi(this.baseUrl, { method, path: `/api/v1${path}`, bearer: this.#key, body, headers });
  }
}
