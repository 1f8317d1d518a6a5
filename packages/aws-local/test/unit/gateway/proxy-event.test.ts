import { describe, expect, it } from 'vitest';
import { type Arrival, proxyEvent } from '../../../src/gateway/proxy-event.ts';
import type { GatewayRequest } from '../../../src/gateway/request.ts';

const arrival: Arrival = {
  requestId: '6f1f5a5e-0000-4000-8000-000000000000',
  extendedRequestId: 'abcdefghijklmno=',
  traceId: '1-6a0ec739-0123456789abcdef01234567',
  time: new Date('2026-11-20T09:03:05.123Z'),
  stage: 'api',
  apiId: 'local',
  domainName: 'localhost',
};
const route = { resourceId: 'Webhook', resourcePath: '/v1/webhooks/{id}', parameters: { id: 'é/1' } };
const root = { resourceId: 'root', resourcePath: '/', parameters: {} };

function aRequest(changes: Partial<GatewayRequest> = {}): GatewayRequest {
  return {
    method: 'POST',
    path: '/api/v1/webhooks/%C3%A9%2F1',
    segments: ['api', 'v1', 'webhooks', 'é/1'],
    query: [],
    headers: [],
    protocol: 'HTTP/1.1',
    sourceIp: '127.0.0.1',
    ...changes,
  };
}

describe('the event of a proxy integration', () => {
  it('has paths with and without the stage, and decoded parameters', () => {
    const event = proxyEvent(aRequest(), route, arrival, Buffer.from('{}'), false);
    expect(event).toMatchObject({
      resource: '/v1/webhooks/{id}',
      path: '/v1/webhooks/%C3%A9%2F1',
      pathParameters: { id: 'é/1' },
      body: '{}',
      isBase64Encoded: false,
      requestContext: {
        path: '/api/v1/webhooks/%C3%A9%2F1',
        stage: 'api',
        requestId: arrival.requestId,
        extendedRequestId: 'abcdefghijklmno=',
        requestTime: '20/Nov/2026:09:03:05 +0000',
        requestTimeEpoch: 1795165385123,
        identity: { sourceIp: '127.0.0.1', userAgent: null },
      },
    });
  });

  it('has null for missing parts', () => {
    const event = proxyEvent(aRequest({ path: '/api' }), root, arrival, Buffer.alloc(0), true);
    expect(event).toMatchObject({
      path: '/',
      queryStringParameters: null,
      multiValueQueryStringParameters: null,
      pathParameters: null,
      stageVariables: null,
      body: null,
      isBase64Encoded: false,
    });
  });

  it('has all values of a name, and the last one separately', () => {
    const request = aRequest({
      query: [
        ['a', '1'],
        ['a', '2'],
        ['__proto__', 'x'],
      ],
      headers: [
        ['X-One', '1'],
        ['x-one', '2'],
        ['User-Agent', 'curl'],
      ],
    });
    const event = proxyEvent(request, root, arrival, Buffer.alloc(0), false);
    expect(event.multiValueHeaders).toMatchObject({ 'X-One': ['1', '2'], 'User-Agent': ['curl'] });
    expect(event.headers).toMatchObject({ 'X-One': '2', 'User-Agent': 'curl' });
    expect(event.requestContext.identity.userAgent).toBe('curl');
    expect(Object.entries(event.multiValueQueryStringParameters ?? {})).toEqual([
      ['a', ['1', '2']],
      ['__proto__', ['x']],
    ]);
    expect(Object.entries(event.queryStringParameters ?? {})).toEqual([
      ['a', '2'],
      ['__proto__', 'x'],
    ]);
  });

  it('begins a trace, unless the request is part of one', () => {
    const headersOf = (headers: GatewayRequest['headers']) =>
      proxyEvent(aRequest({ headers }), root, arrival, Buffer.alloc(0), false).headers;
    expect(headersOf([])).toEqual({ 'X-Amzn-Trace-Id': `Root=${arrival.traceId}` });
    expect(headersOf([['x-amzn-trace-id', 'Root=other']])).toEqual({ 'x-amzn-trace-id': 'Root=other' });
  });
});
