import { describe, expect, it } from 'vitest';
import { frontDoor } from '../../../../lib/local/gateway/front-door.ts';
import { UNREADABLE } from '../../../../lib/local/gateway/handler.ts';
import type { Operation, RestApi } from '../../../../lib/local/gateway/rest-api.ts';
import { RouteTree } from '../../../../lib/local/gateway/route-tree.ts';

function anApi(path: string): RestApi {
  const operations = new RouteTree<Operation>();
  operations.add(path, 'GET', {
    resourceId: 'page',
    resourcePath: path,
    integration: { kind: 'mock', respond: () => ({ statusCode: 200, headers: {}, body: '' }) },
    takes: () => true,
  });
  const gatewayResponses = () => ({ statusCode: 404, headers: {}, body: '' });
  return {
    id: 'local',
    stage: 'api',
    operations,
    gatewayResponses,
    isBinary: () => false,
  };
}

const request = (method: string, ...segments: string[]) => ({ ...UNREADABLE, method, segments });

describe('the root of the local address', () => {
  it.each(['GET', 'HEAD'])('shows %s the way to the documentation', (method) => {
    expect(frontDoor(anApi('/docs'), request(method, 'docs'))).toMatchObject({
      statusCode: 307,
      headers: { Location: '/api/docs' },
    });
  });

  it.each([
    ['another method', request('POST', 'docs')],
    ['another path', request('GET', 'v1')],
    ['a path below it', request('GET', 'docs', 'page.js')],
    ['the root itself', request('GET')],
  ])('shows no way to %s', (_, asked) => {
    expect(frontDoor(anApi('/docs'), asked)).toBeUndefined();
  });

  it('shows none where the template has no documentation', () => {
    expect(frontDoor(anApi('/other'), request('GET', 'docs'))).toBeUndefined();
  });
});
