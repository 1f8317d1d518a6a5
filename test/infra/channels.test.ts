import { describe, expect, it } from 'vitest';
import { routes } from '../../functions/api/routes.ts';
import type { Route } from '../../functions/http/route.ts';
import { buildMethodHeaders } from '../../lib/infra/served-methods.ts';
import { functionNamed, ofType, synthesize, tableGrants } from './synthesize.ts';

const template = synthesize();

describe("a visitor's read route", () => {
  it('may read, and change only the count of requests', () => {
    expect(tableGrants(template, functionNamed(template, 'read-widget-messages')[1])).toEqual([
      'dynamodb:GetItem Service',
      'dynamodb:Query Service',
      'dynamodb:UpdateItem Rates',
    ]);
  });
});

describe('a preflight', () => {
  const resources = new Map(ofType(template, 'AWS::ApiGateway::Resource'));
  function pathOf(id: string): string {
    const { ParentId, PathPart } = resources.get(id)?.Properties ?? {};
    const parent: string | undefined = Object(ParentId).Ref;
    return `${parent === undefined ? '' : pathOf(parent)}/${PathPart}`;
  }
  const methods = ofType(template, 'AWS::ApiGateway::Method').map(([, { Properties }]) => ({
    path: pathOf(Object(Properties.ResourceId).Ref ?? ''),
    method: Properties.HttpMethod,
    integration: Object(Properties.Integration),
  }));

  it("is answered on visitors' routes only", () => {
    const open = Object.values<Route>(routes).filter(({ visitor }) => visitor);
    expect(methods.filter(({ method }) => method === 'OPTIONS').map(({ path }) => path)).toEqual(
      open.map(({ path }) => path),
    );
  });

  it('lets pages of any site send a token, and is cached', () => {
    const [preflight] = methods.filter(({ method }) => method === 'OPTIONS');
    expect(preflight?.integration.Type).toBe('MOCK');
    expect(preflight?.integration.IntegrationResponses).toEqual([
      {
        StatusCode: '204',
        ResponseParameters: {
          'method.response.header.Access-Control-Allow-Origin': "'*'",
          'method.response.header.Access-Control-Allow-Methods': "'GET'",
          'method.response.header.Access-Control-Allow-Headers': "'Authorization'",
          'method.response.header.Access-Control-Max-Age': "'7200'",
          'method.response.header.Request-Id': 'context.extendedRequestId',
          'method.response.header.Cache-Control': "'no-store'",
        },
      },
    ]);
  });

  it('is listed among the methods of its path', () => {
    expect(buildMethodHeaders()['/v1/widget/messages']).toEqual({ Allow: 'GET, OPTIONS' });
  });
});
