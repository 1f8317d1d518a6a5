import * as apigateway from 'aws-cdk-lib/aws-apigateway';
import { envelope, REQUEST_ID } from './gateway-responses.ts';

/** A known path with another method is 405 and tells which methods it has (RFC 9110, 15.5.6). */
export function refuseOtherMethods(
  api: apigateway.RestApi,
  served: readonly { method: string; path: string }[],
): void {
  const methods = new Map<string, string[]>();
  for (const { path, method } of served) methods.set(path, [...(methods.get(path) ?? []), method]);
  for (const [path, allowed] of methods) {
    api.root.resourceForPath(path).addMethod(
      'ANY',
      new apigateway.MockIntegration({
        requestTemplates: { 'application/json': '{"statusCode":405}' },
        passthroughBehavior: apigateway.PassthroughBehavior.WHEN_NO_TEMPLATES,
        integrationResponses: [
          {
            statusCode: '405',
            responseParameters: {
              'method.response.header.Allow': `'${allowed.join(', ')}'`,
              'method.response.header.Request-Id': REQUEST_ID,
              // Caches may keep a 405 where nothing says otherwise (RFC 9110, 15.5.6).
              'method.response.header.Cache-Control': "'no-store'",
            },
            responseTemplates: {
              'application/json': envelope('METHOD_NOT_ALLOWED', '"The path does not have this method."'),
            },
          },
        ],
      }),
      {
        methodResponses: [
          {
            statusCode: '405',
            responseParameters: {
              'method.response.header.Allow': true,
              'method.response.header.Request-Id': true,
              'method.response.header.Cache-Control': true,
            },
          },
        ],
      },
    );
  }
}
