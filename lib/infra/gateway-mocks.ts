import { envelope, REQUEST_ID } from './gateway-responses.ts';
import { listAllowedMethods } from './served-methods.ts';

/** Seconds that browsers may cache a preflight's response; current browsers cap it at two hours. */
const PREFLIGHT_SECONDS = 7200;

/** Answers a preflight of a route that pages of other sites call (Fetch standard, CORS preflight). */
export const preflightMock = (method: string, path: string): object =>
  mock({
    statusCode: '204',
    headers: {
      'Access-Control-Allow-Origin': "'*'",
      'Access-Control-Allow-Methods': `'${listAllowedMethods(path)
        .filter((allowed) => allowed !== method)
        .join(', ')}'`,
      'Access-Control-Allow-Headers': "'Authorization, Content-Type, Idempotency-Key'",
      'Access-Control-Max-Age': `'${PREFLIGHT_SECONDS}'`,
    },
  });

/**
 * Answers an unknown path with 404, also with an Authorization header, which API Gateway would read as an AWS
 * signature where no method matches. The greedy path gets what no other path has a method for.
 */
export const notFoundMock = (): object =>
  mock({ statusCode: '404', headers: {}, template: envelope('NOT_FOUND', 'No such route.') });

interface Answer {
  statusCode: string;
  /** Values are constants or gateway variables. */
  headers: Record<string, string>;
  template?: string;
}

/** An OpenAPI operation that the gateway answers without a function. */
function mock({ statusCode, headers, template }: Answer): object {
  // Caches may store a 204 and a 404 by default (RFC 9110, 15.1).
  const all = Object.entries({ ...headers, 'Request-Id': REQUEST_ID, 'Cache-Control': "'no-store'" });
  return {
    responses: {
      [statusCode]: {
        description: '',
        headers: Object.fromEntries(all.map(([name]) => [name, { schema: { type: 'string' } }])),
      },
    },
    'x-amazon-apigateway-integration': {
      type: 'mock',
      // Other content types get the gateway's response for them, which is the same 404.
      requestTemplates: { 'application/json': `{"statusCode":${statusCode}}` },
      passthroughBehavior: 'never',
      // Templates read text, and every body is binary to this API.
      contentHandling: 'CONVERT_TO_TEXT',
      responses: {
        default: {
          statusCode,
          responseParameters: Object.fromEntries(
            all.map(([name, value]) => [`method.response.header.${name}`, value]),
          ),
          ...(template !== undefined && { responseTemplates: { 'application/json': template } }),
        },
      },
    },
  };
}
