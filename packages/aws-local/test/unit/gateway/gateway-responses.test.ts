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

  it('refuses parameters other than headers', () => {
    const properties = {
      ResponseType: 'THROTTLED',
      ResponseParameters: { 'gatewayresponse.querystring.x': "'1'" },
    };
    expect(() => responses(properties)).toThrow(/Response0: .*gatewayresponse\.querystring\.x/);
  });
});
