import { describe, expect, it } from 'vitest';
import { buildMethodHeaders, SERVED } from '../../../lib/infra/served-methods.ts';

describe('the headers of a 405', () => {
  it('exist for each path, with its methods', () => {
    const headers = buildMethodHeaders();
    for (const { path, method } of SERVED) expect(headers[path]?.Allow?.split(', ')).toContain(method);
    expect(headers['/v1/webhooks']).toEqual({ Allow: expect.stringMatching(/^(POST, GET|GET, POST)$/) });
  });

  it('announce the end of a deprecated route of the path, and of no other path', () => {
    const deprecation = {
      since: true,
      sunset: '2027-01-31T00:00:00.000Z',
      guide: 'https://example.com/v2',
    } as const;
    const headers = buildMethodHeaders([{ path: '/v1/tickets', deprecation }]);
    expect(headers['/v1/tickets']).toMatchObject({
      Deprecation: 'true',
      Sunset: 'Sun, 31 Jan 2027 00:00:00 GMT',
      Link: '<https://example.com/v2>; rel="deprecation"',
    });
    expect(headers['/v1/webhooks']).not.toHaveProperty('Deprecation');
  });
});
