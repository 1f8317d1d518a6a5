import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RouteTree } from '../../../src/gateway/route-tree.ts';

function aTree(...routes: [method: string, path: string][]): RouteTree<string> {
  const tree = new RouteTree<string>();
  for (const [method, path] of routes) tree.add(path, method, `${method} ${path}`);
  return tree;
}

const segmentsOf = (path: string) => (path === '/' ? [] : path.slice(1).split('/'));

describe('the routes of a REST API', () => {
  const tree = aTree(
    ['GET', '/'],
    ['GET', '/webhooks'],
    ['ANY', '/webhooks'],
    ['GET', '/webhooks/{id}'],
    ['POST', '/webhooks/test'],
    ['GET', '/webhooks/{id}/deliveries'],
    ['GET', '/files/{path+}'],
    ['GET', '/files/index'],
    ['POST', '/{any+}'],
  );

  it.each([
    ['GET', '/', 'GET /', {}],
    ['GET', '/webhooks', 'GET /webhooks', {}],
    ['PUT', '/webhooks', 'ANY /webhooks', {}],
    ['GET', '/webhooks/whk_1', 'GET /webhooks/{id}', { id: 'whk_1' }],
    ['POST', '/webhooks/test', 'POST /webhooks/test', {}],
    ['GET', '/files/a/b/c', 'GET /files/{path+}', { path: 'a/b/c' }],
    ['GET', '/files/index', 'GET /files/index', {}],
    ['GET', '/%77ebhooks/a%2Fb', 'GET /webhooks/{id}', { id: 'a%2Fb' }],
    ['GET', '/webhooks/test', 'GET /webhooks/{id}', { id: 'test' }],
    ['GET', '/webhooks/test/deliveries', 'GET /webhooks/{id}/deliveries', { id: 'test' }],
    ['POST', '/webhooks/whk_1', 'POST /{any+}', { any: 'webhooks/whk_1' }],
    ['POST', '/webhooks//deliveries', 'POST /{any+}', { any: 'webhooks//deliveries' }],
  ])('map %s %s to %s', (method, path, target, parameters) => {
    expect(tree.match(method, segmentsOf(path))).toEqual({ target, parameters });
  });

  it.each([
    ['a path that no resource has', 'GET', '/nowhere'],
    ['a method that no resource has', 'PATCH', '/webhooks/whk_1'],
    ['an empty parameter', 'GET', '/webhooks//deliveries'],
    ['a method that ANY does not stand for', 'TRACE', '/webhooks'],
    ['a greedy parameter without any part', 'GET', '/files'],
  ])('find nothing for %s', (_, method, path) => {
    expect(tree.match(method, segmentsOf(path))).toBeUndefined();
  });

  it('return every value of a parameter unchanged', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }).map(encodeURIComponent), (id) => {
        const match = aTree(['GET', '/items/{id}']).match('GET', ['items', id]);
        expect(match?.parameters).toEqual({ id });
      }),
    );
  });
});
