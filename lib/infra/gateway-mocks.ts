import * as apigateway from 'aws-cdk-lib/aws-apigateway';
import { envelope, REQUEST_ID } from './gateway-responses.ts';
import type { ServedMethod } from './public-throttles.ts';
import { listAllowedMethods } from './served-methods.ts';

/** Seconds that browsers may cache a preflight's response; current browsers cap it at two hours. */
const PREFLIGHT_SECONDS = 7200;

/** Answers preflights of routes that pages of other sites call (Fetch standard, CORS preflight). */
export function answerPreflights(api: apigateway.RestApi, preflights: readonly ServedMethod[]): void {
  for (const { method, path } of preflights)
    addMock(
      api.root.resourceForPath(path),
      method,
      preflight(listAllowedMethods(path).filter((allowed) => allowed !== method)),
    );
}

/**
 * Answers an unknown path with 404, also with an Authorization header, which API Gateway would read as an AWS
 * signature where no method matches. The greedy child gets what no other resource has a method for.
 */
export function answerUnknownPaths(api: apigateway.RestApi): void {
  addMock(api.root, 'ANY', NOT_FOUND);
  addMock(api.root.addResource('{proxy+}'), 'ANY', NOT_FOUND);
}

interface Answer {
  statusCode: string;
  /** Values are constants or gateway variables. */
  headers: Record<string, string>;
  template?: string;
}

const NOT_FOUND: Answer = {
  statusCode: '404',
  headers: {},
  template: envelope('NOT_FOUND', 'No such route.'),
};

const preflight = (methods: readonly string[]): Answer => ({
  statusCode: '204',
  headers: {
    'Access-Control-Allow-Origin': "'*'",
    'Access-Control-Allow-Methods': `'${methods.join(', ')}'`,
    'Access-Control-Allow-Headers': "'Authorization'",
    'Access-Control-Max-Age': `'${PREFLIGHT_SECONDS}'`,
  },
});

/** Makes the gateway answer a method without a function. */
function addMock(
  resource: apigateway.IResource,
  method: string,
  { statusCode, headers, template }: Answer,
): void {
  // Caches may store a 204 and a 404 by default (RFC 9110, 15.1).
  const all = { ...headers, 'Request-Id': REQUEST_ID, 'Cache-Control': "'no-store'" };
  const parameters = <T>(value: (header: string) => T): Record<string, T> =>
    Object.fromEntries(
      Object.entries(all).map(([name, header]) => [`method.response.header.${name}`, value(header)]),
    );
  resource.addMethod(
    method,
    new apigateway.MockIntegration({
      // Other content types get the gateway's response for them, which is the same 404.
      requestTemplates: { 'application/json': `{"statusCode":${statusCode}}` },
      passthroughBehavior: apigateway.PassthroughBehavior.NEVER,
      // Templates read text, and every body is binary to this API.
      contentHandling: apigateway.ContentHandling.CONVERT_TO_TEXT,
      integrationResponses: [
        {
          statusCode,
          responseParameters: parameters((header) => header),
          ...(template === undefined ? {} : { responseTemplates: { 'application/json': template } }),
        },
      ],
    }),
    { methodResponses: [{ statusCode, responseParameters: parameters(() => true) }] },
  );
}
