import { describe, expect, it } from 'vitest';
import { proxyAnswer } from '../../../src/gateway/proxy-response.ts';

describe('the answer of a proxy integration', () => {
  it('is sent as the function returned it, as JSON by default', () => {
    expect(proxyAnswer({ statusCode: 201, headers: { Location: '/x', Age: 3 }, body: '{}' }, false)).toEqual({
      statusCode: 201,
      headers: { 'Content-Type': 'application/json', Location: '/x', Age: '3' },
      body: '{}',
    });
    expect(proxyAnswer({ statusCode: '204' }, false)).toMatchObject({ statusCode: 204, body: '' });
    expect(proxyAnswer({ statusCode: 200, headers: { 'content-type': 'text/csv' } }, false)?.headers).toEqual(
      {
        'content-type': 'text/csv',
      },
    );
  });

  it('uses the list of values where a header is in both maps', () => {
    const payload = {
      statusCode: 200,
      headers: { 'set-cookie': 'a' },
      multiValueHeaders: { 'Set-Cookie': ['b', 'c'] },
    };
    expect(proxyAnswer(payload, false)?.headers).toMatchObject({ 'Set-Cookie': ['b', 'c'] });
  });

  it('decodes base64 only where the API has binary types', () => {
    const payload = { statusCode: 200, body: 'AP8=', isBase64Encoded: true };
    expect(proxyAnswer(payload, true)?.body).toEqual(Buffer.from([0, 255]));
    expect(proxyAnswer(payload, false)?.body).toBe('AP8=');
  });

  it('leaves the connection and the length to the gateway', () => {
    const headers = { 'Content-Length': '99', 'transfer-encoding': 'chunked', Connection: 'close' };
    expect(proxyAnswer({ statusCode: 200, headers }, false)?.headers).toEqual({
      'Content-Type': 'application/json',
    });
  });

  it.each([
    [null],
    ['text'],
    [{}],
    [{ statusCode: 'ok' }],
    [{ statusCode: 99 }],
    [{ statusCode: 200.5 }],
    [{ statusCode: 200, body: { not: 'text' } }],
    [{ statusCode: 200, headers: { 'X-A': ['list'] } }],
    [{ statusCode: 200, headers: { 'X-A': 'two\nlines' } }],
    [{ statusCode: 200, headers: { 'bad name': 'x' } }],
  ])('is malformed: %j', (payload) => {
    expect(proxyAnswer(payload, false)).toBeUndefined();
  });
});
