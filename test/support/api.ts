import { randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';

/** An answer of the API. */
export interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  /** Parsed; undefined when there is no body. */
  body: Body;
}

interface Body {
  success?: boolean;
  data?: Data;
  nextCursor?: string | null;
  followCursor?: string | null;
  error?: { type: string; message: string; requestId: string };
}
/** A resource or a list of them: tests assert the contents. */
export type Data = Record<string, unknown> & Iterable<Record<string, unknown>>;

export interface Call {
  method?: string;
  path: string;
  /** Serialized as JSON unless it is a string. */
  body?: unknown;
  headers?: Record<string, string>;
}

/**
 * A client of the API for tests: `connections` kept-alive connections at most.
 * @param environment.API_KEY the credential: an API key, or a user's token for the organization settings
 */
export function apiClient({ BASE_URL, API_KEY }: { BASE_URL: string; API_KEY: string }, connections = 16) {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const base = new URL(BASE_URL);

  /**
   * @param isRepeat whether its first try used a connection that the gateway was closing, which happens to
   * any client
   */
  function call({ method = 'GET', path, body, headers = {} }: Call, isRepeat = false): Promise<Answer> {
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
    return new Promise((resolve, reject) => {
      const sent = request(
        {
          agent,
          host: '127.0.0.1',
          port: base.port,
          method,
          path,
          headers: {
            ...(API_KEY === '' ? {} : { authorization: `Bearer ${API_KEY}` }),
            ...(text === undefined
              ? {}
              : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
            ...headers,
          },
        },
        (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk) => chunks.push(chunk));
          response.on('error', reject);
          response.on('end', () => {
            const received = Buffer.concat(chunks).toString();
            try {
              resolve({
                status: response.statusCode ?? 0,
                headers: response.headers,
                body: received === '' ? {} : JSON.parse(received),
              });
            } catch (error) {
              // Invalid JSON: an exception here would end the process.
              reject(error);
            }
          });
        },
      );
      sent.on('error', (error: NodeJS.ErrnoException) => {
        if (isRepeat || error.code !== 'ECONNRESET' || !sent.reusedSocket) return reject(error);
        call({ method, path, body, headers }, true).then(resolve, reject);
      });
      sent.end(text);
    });
  }

  return {
    call: (asked: Call) => call(asked),
    get: (path: string) => call({ path }),
    post: (path: string, body?: unknown, headers: Record<string, string> = {}) =>
      call({ method: 'POST', path, body, headers: { 'idempotency-key': randomUUID(), ...headers } }),
    close: () => agent.destroy(),

    /** Registers an endpoint and returns it with its secret. */
    async register(url: string, events: string[]): Promise<{ id: string; secret: string }> {
      const { status, body } = await this.post('/api/v1/webhooks', { url, events });
      if (status !== 201) throw new Error(`registration answered ${status}: ${JSON.stringify(body)}`);
      return { id: String(body.data?.id), secret: String(body.data?.secret) };
    },

    async createConversation(): Promise<string> {
      const { status, body } = await this.post('/api/v1/conversations', {
        channelId: 'chn_test',
        externalUserId: 'user-1',
      });
      if (status !== 201) throw new Error(`creation answered ${status}: ${JSON.stringify(body)}`);
      return String(body.data?.id);
    },

    /**
     * All items of a listing, page by page.
     * @param query its other parameters
     */
    async all(path: string, query: Record<string, string> = {}): Promise<Record<string, unknown>[]> {
      const items: Record<string, unknown>[] = [];
      for (let cursor: string | null | undefined = ''; cursor !== null; ) {
        const asked = new URLSearchParams({ ...query, limit: '100', ...(cursor ? { cursor } : {}) });
        const page = await this.get(`${path}?${asked}`);
        if (page.status !== 200)
          throw new Error(`listing answered ${page.status}: ${JSON.stringify(page.body)}`);
        items.push(...(page.body.data ?? []));
        cursor = page.body.nextCursor ?? null;
      }
      return items;
    },
  };
}
export type ApiClient = ReturnType<typeof apiClient>;
