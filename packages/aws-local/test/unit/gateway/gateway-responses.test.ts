import { describe, expect, it } from 'vitest';
import { compileGatewayResponses } from '../../../src/gateway/gateway-responses.ts';

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
