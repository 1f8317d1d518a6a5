import { describe, expect, it } from 'vitest';
import { redirectPages } from '../../../src/gateway/redirects.ts';

const answer = redirectPages({ '/docs': '/api/docs' });
const request = (method: string, ...segments: string[]) => ({
  method,
  path: `/${segments.join('/')}`,
  segments,
  query: [],
  headers: [],
  protocol: 'HTTP/1.1',
  sourceIp: '127.0.0.1',
});

describe('redirects', () => {
  it.each(['GET', 'HEAD'])('map %s to the path in the options', async (method) => {
    expect(await answer(request(method, 'docs'))).toMatchObject({
      statusCode: 307,
      headers: { Location: '/api/docs' },
    });
  });

  it.each([
    ['another method', request('POST', 'docs')],
    ['another path', request('GET', 'v1')],
    ['a path below it', request('GET', 'docs', 'page.js')],
    ['the root', request('GET')],
  ])('do not apply to %s', async (_, asked) => {
    expect(await answer(asked)).toBeUndefined();
  });
});
