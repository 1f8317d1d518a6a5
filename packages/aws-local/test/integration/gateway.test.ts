import { request } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { LocalRunError } from '../../src/errors.ts';
import { compileGatewayResponses } from '../../src/gateway/gateway-responses.ts';
import { RouteTree } from '../../src/gateway/route-tree.ts';
import { startGateway } from '../../src/gateway/server.ts';
import { type Answering, aGateway } from './a-gateway.ts';

const echo: Answering = (event) => ({ payload: { statusCode: 200, body: JSON.stringify(event) } });

const Envelope = z.object({ error: z.object({ message: z.string(), requestId: z.string() }) });
const Event = z.object({
  requestContext: z.object({ requestId: z.string(), extendedRequestId: z.string() }),
});

async function envelopeOf(response: Response): Promise<{ message: string }> {
  const { error } = Envelope.parse(await response.json());
  expect(response.headers.get('content-type')).toBe('application/json');
  expect(error.requestId).toBe(response.headers.get('request-id'));
  expect(error.requestId).toMatch(/^[\w-]{15}=$/);
  return error;
}

describe('a request', () => {
  it('reaches the function of its route', async () => {
    const { url } = await aGateway(echo);
    const response = await fetch(`${url}/things/a%20b?limit=1&limit=2`, { method: 'POST', body: 'text' });
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({
      resource: '/v1/things/{id}',
      httpMethod: 'POST',
      pathParameters: { id: 'a%20b' },
      multiValueQueryStringParameters: { limit: ['1', '2'] },
      body: 'text',
    });
  });

  it('gets an id of its own each time', async () => {
    const { url } = await aGateway(echo);
    const ids = new Set<string>();
    for (let i = 0; i < 3; i += 1) {
      const { requestContext } = Event.parse(await (await fetch(`${url}/things/1`)).json());
      ids.add(requestContext.requestId).add(requestContext.extendedRequestId);
    }
    expect(ids.size).toBe(6);
  });

  it("beyond its method's limits gets the envelope with 429, and reaches no function", async () => {
    const invoked: string[] = [];
    const counting: Answering = (event) => {
      invoked.push(event.httpMethod);
      return echo(event);
    };
    // At so low a rate no request becomes available during the test.
    const limits = { rate: 0.001, burst: 10, ofGetThing: { rate: 0.001, burst: 3 } };
    const { url } = await aGateway(counting, limits);
    const send = (method: string) =>
      Promise.all(Array.from({ length: 40 }, () => fetch(`${url}/things/1`, { method })));
    for (const [method, taken] of [
      ['GET', 3],
      // Each method without settings of its own has a bucket with the limits of the stage.
      ['POST', 10],
    ] as const) {
      const answers = await send(method);
      const refused = answers.filter(({ status }) => status === 429);
      expect(invoked.filter((one) => one === method)).toHaveLength(taken);
      expect([refused.length, answers.filter(({ status }) => status === 200).length]).toEqual([
        40 - taken,
        taken,
      ]);
      for (const response of refused) await envelopeOf(response);
    }
    const others = await send('DELETE');
    expect(others.filter(({ status }) => status === 405)).toHaveLength(10);
  });

  it('to an unknown path or stage gets the envelope with 404', async () => {
    const { url } = await aGateway(echo);
    for (const unknown of [`${url}/nothing`, `${url}/things/`, new URL('/v1/things/1', url).href]) {
      const response = await fetch(unknown, { method: 'POST', body: 'ignored' });
      expect(response.status).toBe(404);
      await envelopeOf(response);
    }
  });

  it('to an unknown path with an Authorization header gets the header back in a 403 whose template has the message', async () => {
    const { url } = await aGateway(echo);
    const response = await fetch(`${url}/nothing`, { headers: { authorization: 'Bearer ck_live_1' } });
    expect(response.status).toBe(403);
    expect((await envelopeOf(response)).message).toContain("in Authorization header: 'Bearer ck_live_1'");
  });

  it('with a binary media type reaches the function as base64, byte for byte', async () => {
    const bytes = Buffer.from([0x7b, 0xff, 0xfe, 0x7d]);
    const received: unknown[] = [];
    const { url } = await aGateway(
      ({ body, isBase64Encoded }) => {
        received.push(isBase64Encoded, body);
        return { payload: { statusCode: 200, body: 'read' } };
      },
      undefined,
      { binary: ['*/*'] },
    );
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(`${url}/things/1`, { method: 'POST', headers, body: bytes });
    expect([answer.status, await answer.text()]).toEqual([200, 'read']);
    expect(received).toEqual([true, bytes.toString('base64')]);
  });

  it.each([
    ['with', { ContentHandling: 'CONVERT_TO_TEXT' }, 405],
    ['without', {}, 500],
  ])('of a binary media type can be read by a mock only %s CONVERT_TO_TEXT', async (_, mock, status) => {
    const { url } = await aGateway(() => ({ payload: {} }), undefined, { binary: ['*/*'], ...mock });
    expect((await fetch(`${url}/things/1`, { method: 'PUT', body: '{}' })).status).toBe(
      status === 405 ? 415 : 500,
    );
    const headers = { 'content-type': 'application/json' };
    expect((await fetch(`${url}/things/1`, { method: 'PUT', headers, body: '{}' })).status).toBe(status);
  });

  it('with another method gets 405 from the mock, with Allow', async () => {
    const { url } = await aGateway(echo);
    const response = await fetch(`${url}/things/1`, { method: 'DELETE' });
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('GET, POST');
    const wrongType = { method: 'PUT', headers: { 'content-type': 'text/plain' }, body: 'x' };
    expect((await fetch(`${url}/things/1`, wrongType)).status).toBe(415);
  });

  it('for HEAD gets the headers and no body', async () => {
    const { url, raw } = await aGateway(echo);
    expect((await fetch(`${url}/things/1`, { method: 'HEAD' })).status).toBe(405);
    const answer = await raw('HEAD /api/v1/things HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    expect(answer).toMatch(/^HTTP\/1\.1 404 .*\r\n\r\n$/s);
  });
});

describe('an answer of the function', () => {
  it.each([
    [
      'an error',
      { payload: { errorType: 'Error', errorMessage: 'secret' }, functionError: 'Unhandled' as const },
    ],
    ['no status', { payload: { body: 'secret' } }],
    ['nothing', { payload: null }],
    ['a body that is no text', { payload: { statusCode: 200, body: { secret: 1 } } }],
  ])('becomes a 502 without details, with a log line, when it is %s', async (_, result) => {
    const { url, logged } = await aGateway(() => result);
    const response = await fetch(`${url}/things/1`);
    expect(response.status).toBe(502);
    expect((await envelopeOf(response)).message).toBe('Internal server error');
    const why = 'functionError' in result ? JSON.stringify(result.payload) : 'malformed';
    expect(logged).toEqual([expect.stringContaining(why)]);
    expect(logged[0]).toContain('GET /v1/things/{id}: the function');
  });

  it('becomes a 504 when it is too late', async () => {
    const { url, logged } = await aGateway(() => new Promise(() => undefined));
    const response = await fetch(`${url}/things/1`, { method: 'POST' });
    expect(response.status).toBe(504);
    expect(logged).toEqual(['POST /v1/things/{id}: the function did not answer in time']);
    expect((await envelopeOf(response)).message).toBe('Endpoint request timed out');
  });

  it('is sent with its status, all its headers and no length where there can be none', async () => {
    const { url } = await aGateway(() => ({
      payload: { statusCode: 204, multiValueHeaders: { 'Set-Cookie': ['a=1', 'b=2'] }, body: '' },
    }));
    const response = await fetch(`${url}/things/1`);
    expect(response.status).toBe(204);
    expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
    expect(response.headers.has('content-length')).toBe(false);
  });
});

describe('a request that is too large', () => {
  const send = (url: string, headers: Record<string, string>, chunks: number) =>
    new Promise<{ status?: number; sent: number }>((resolve, reject) => {
      let sent = 0;
      const call = request(`${url}/things/1`, { method: 'POST', headers }, (response) => {
        response.resume().once('end', () => resolve({ status: response.statusCode, sent }));
      });
      call.on('error', reject);
      const chunk = Buffer.alloc(1024 * 1024);
      const more = (): void => {
        if (sent === chunks) return void call.end();
        sent += 1;
        call.write(chunk, (error) => (error ? undefined : more()));
      };
      more();
    });

  it('is refused by its declared length, before its body arrives', async () => {
    const { url } = await aGateway(echo);
    const announced = { 'content-length': String(11 * 1024 * 1024) };
    expect(await send(url, announced, 11)).toMatchObject({ status: 413 });
  });

  it('is refused while it arrives, without a declared length', async () => {
    const { url } = await aGateway(echo);
    expect(await send(url, { 'transfer-encoding': 'chunked' }, 12)).toMatchObject({ status: 413 });
  });

  it("is refused when its event exceeds Lambda's limit", async () => {
    const { url } = await aGateway(echo);
    const response = await fetch(`${url}/things/1`, { method: 'POST', body: 'x'.repeat(7 * 1024 * 1024) });
    expect(response.status).toBe(413);
    await envelopeOf(response);
  });

  it('is refused with 431 for its headers', async () => {
    const { raw } = await aGateway(echo);
    const answer = await raw(
      `GET /api/v1/things/1 HTTP/1.1\r\nHost: x\r\nX-Large: ${'x'.repeat(11_000)}\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 431 /);
    expect(answer).toContain('{"message":"Request Header Fields Too Large"}');
  });
});

describe('a request that is not HTTP', () => {
  it.each([
    ['garbage', 'garbage\r\n\r\n'],
    ['a bad percent-encoding', 'GET /api/v1/things/%zz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'],
    ['text that is not UTF-8', 'GET /api/v1/things/%ff HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'],
    [
      'two lengths',
      'POST /api/v1/things/1 HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx',
    ],
    [
      'a length and chunks',
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['no host', 'GET /api/v1/things/1 HTTP/1.1\r\n\r\n'],
    ['a tunnel', 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n'],
    ['an asterisk', 'OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'],
  ])('is answered with 400, without gateway responses: %s', async (_, bytes) => {
    const { raw } = await aGateway(echo);
    const answer = await raw(bytes);
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toContain('{"message":"Bad Request"}');
  });

  it('does not affect the next one', async () => {
    const { url, raw } = await aGateway(echo);
    await raw('\x16\x03\x01\x00\x00\r\n\r\n');
    expect((await fetch(`${url}/things/1`)).status).toBe(200);
  });
});

describe('a gateway', () => {
  it('answers pending requests before it stops, and accepts no new ones', async () => {
    let answer: (() => void) | undefined;
    const { gateway, url } = await aGateway(
      () =>
        new Promise((resolve) => {
          answer = () => resolve({ payload: { statusCode: 200 } });
        }),
    );
    const inHand = fetch(`${url}/things/1`);
    await expect.poll(() => answer).toBeDefined();
    const drained = gateway.drain();
    await expect(fetch(`${url}/things/1`)).rejects.toThrow();
    answer?.();
    expect((await inHand).status).toBe(200);
    await drained;
  });

  const api = {
    id: 'local',
    stage: 'api',
    operations: new RouteTree<never>(),
    gatewayResponses: compileGatewayResponses([]),
    isBinary: () => false,
  };

  it('logs an error of its own, which ends only one connection', async () => {
    const failures: string[] = [];
    const pages = async ({ path }: { path: string }) => {
      if (path === '/broken') throw new Error('the page is broken');
      return { statusCode: 200, headers: {}, body: 'a page' };
    };
    const gateway = await startGateway(api, 0, { pages, log: (text) => failures.push(text) });
    onTestFinished(() => gateway.close());
    const url = `http://127.0.0.1:${gateway.port}`;
    await expect(fetch(`${url}/broken`)).rejects.toThrow();
    expect(await (await fetch(`${url}/whole`)).text()).toBe('a page');
    expect(failures).toEqual([expect.stringContaining('the page is broken')]);
  });

  it('says which port is in use, and what to do', async () => {
    const { gateway } = await aGateway(echo);
    const error = await startGateway(api, gateway.port).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(LocalRunError);
    expect(String(error)).toContain(
      `Port ${gateway.port} is taken. Choose another one: PORT=${gateway.port + 1} npm start`,
    );
  });
});
