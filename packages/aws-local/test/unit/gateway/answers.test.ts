import { describe, expect, it } from 'vitest';
import { compileGatewayResponses } from '../../../src/gateway/gateway-responses.ts';
import { compileMock } from '../../../src/gateway/mock.ts';
import { redirectPages } from '../../../src/gateway/redirects.ts';
import { signatureFault } from '../../../src/gateway/signature.ts';

const methodNotAllowed = {
  Type: 'MOCK',
  PassthroughBehavior: 'NEVER',
  RequestTemplates: { 'application/json': '{"statusCode": 405}' },
  IntegrationResponses: [
    { StatusCode: '200' },
    {
      StatusCode: '405',
      SelectionPattern: '405',
      ResponseParameters: {
        'method.response.header.Allow': "'GET, POST'",
        'method.response.header.Request-Id': 'context.extendedRequestId',
      },
      ResponseTemplates: { 'application/json': '{"requestId":"$context.extendedRequestId"}' },
    },
  ],
};

describe('a mock integration', () => {
  it('returns the response without a pattern when none is selected', () => {
    const other = { ...methodNotAllowed, RequestTemplates: { 'application/json': '{"statusCode": 204}' } };
    expect(compileMock(other, 'Any')('application/json', '', {})).toMatchObject({ statusCode: 200 });
  });

  it('reads the status from a passed-through body, and fails without one', () => {
    const loose = compileMock({ ...methodNotAllowed, PassthroughBehavior: 'WHEN_NO_MATCH' }, 'Any');
    expect(loose('text/plain', '{"statusCode":405}', {})).toMatchObject({ statusCode: 405 });
    expect(loose('text/plain', 'no status', {})).toBe('DEFAULT_5XX');
    const strict = compileMock({ ...methodNotAllowed, PassthroughBehavior: 'WHEN_NO_TEMPLATES' }, 'Any');
    expect(strict('text/plain', '{"statusCode":405}', {})).toBe('UNSUPPORTED_MEDIA_TYPE');
  });
});

const context = { extendedRequestId: 'x-1' };

function responses(...declared: Record<string, unknown>[]) {
  return compileGatewayResponses(
    declared.map((properties, index) => ({ logicalId: `Response${index}`, properties })),
  );
}

describe('a gateway response', () => {
  it('is that of AWS by default', () => {
    expect(responses()('MISSING_AUTHENTICATION_TOKEN', context)).toEqual({
      statusCode: 403,
      headers: { 'Content-Type': 'application/json' },
      body: '{"message":"Missing Authentication Token"}',
    });
  });

  it('falls back to the default of its class and keeps its own status', () => {
    const render = responses(
      { ResponseType: 'DEFAULT_4XX', ResponseTemplates: { 'application/json': '4' } },
      { ResponseType: 'DEFAULT_5XX', ResponseTemplates: { 'application/json': '5' } },
    );
    expect(render('REQUEST_TOO_LARGE', context)).toMatchObject({ statusCode: 413, body: '4' });
    expect(render('INTEGRATION_TIMEOUT', context)).toMatchObject({ statusCode: 504, body: '5' });
    expect(render('DEFAULT_5XX', context, 502)).toMatchObject({ statusCode: 502, body: '5' });
    expect(render('DEFAULT_4XX', context, 431)).toMatchObject({ statusCode: 431, body: '4' });
  });

  it('refuses parameters other than headers', () => {
    const properties = {
      ResponseType: 'THROTTLED',
      ResponseParameters: { 'gatewayresponse.querystring.x': "'1'" },
    };
    expect(() => responses(properties)).toThrow(/Response0: .*gatewayresponse\.querystring\.x/);
  });
});

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

it.each([
  [
    'Bearer ck_live_1',
    "'ck_live_1' not a valid key=value pair (missing equal-sign) in Authorization header: 'Bearer ck_live_1'.",
  ],
  [
    'ck_live_1',
    "Authorization header requires 'Credential' parameter. Authorization header requires 'Signature' parameter. Authorization header requires 'SignedHeaders' parameter. Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header. Authorization=ck_live_1",
  ],
  [
    'AWS4-HMAC-SHA256 Credential=a/b, Signature=c',
    "Authorization header requires 'SignedHeaders' parameter. Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header. Authorization=AWS4-HMAC-SHA256 Credential=a/b, Signature=c",
  ],
  [
    'AWS4-HMAC-SHA256 Credential=a/b, SignedHeaders=host, Signature=c',
    'The security token included in the request is invalid.',
  ],
])('the gateway parses the header %s of an unmatched request as a signature', (header, message) => {
  expect(signatureFault(header, false)).toBe(message);
});
