import { describe, expect, it } from 'vitest';
import { compileMock } from '../../../src/gateway/mock.ts';

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
