import { describe, expect, it } from 'vitest';
import { ApiError, createClient, ResponseError } from '../../src/index.ts';
import responses from '../responses.json' with { type: 'json' };

interface Case {
  response: string;
  status: number;
  type?: string;
  headers?: Record<string, string>;
  body: string;
  repeat?: number;
  expected: 'resource' | 'ApiError' | 'ResponseError';
  errorType?: string;
  isRetried?: boolean;
}

/** The Python client is tested with the same table. */
describe.each(responses as Case[])('a client that gets $response ($status)', (given) => {
  const { status, type = 'application/json', headers = {}, body, repeat = 1, expected, errorType } = given;

  it(`has ${expected}, after ${given.isRetried ? 'a retry' : 'one try'}`, async () => {
    let tries = 0;
    const client = createClient({
      apiKey: 'ck_live_1',
      baseUrl: 'https://api.example.com',
      maxRetries: 1,
      sleep: async () => undefined,
      fetch: async () => {
        tries += 1;
        const content = status === 204 ? null : body.repeat(repeat);
        return new Response(content, { status, headers: { 'content-type': type, ...headers } });
      },
    });

    const outcome: unknown = await client.conversations.get('cnv_1').catch((error: unknown) => error);

    expect(tries).toBe(given.isRetried ? 2 : 1);
    if (expected === 'resource') expect(outcome).toEqual({ id: 'cnv_1' });
    if (expected === 'ApiError') {
      expect(outcome).toBeInstanceOf(ApiError);
      expect(outcome).toMatchObject({ status, type: errorType });
      expect(Object(outcome).requestId ?? 'req_1').toBe('req_1');
    }
    if (expected === 'ResponseError') {
      expect(outcome).toBeInstanceOf(ResponseError);
      expect(outcome).toMatchObject({ status });
      expect(Object(outcome).message.length).toBeLessThan(200);
    }
  });
});
