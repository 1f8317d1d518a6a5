import * as apigateway from 'aws-cdk-lib/aws-apigateway';
import { envelope, REQUEST_ID } from './gateway-responses.ts';
import type { ServedMethod } from './public-throttles.ts';

/** Seconds that browsers may cache a preflight's response; current browsers cap it at two hours. */
const PREFLIGHT_SECONDS = 7200;

/**
 * Answers another method on a known path with 405 and `Allow` (RFC 9110, 15.5.6), and preflights of routes
 * that pages of other sites call with a token (Fetch standard, CORS preflight).
 */
export function answerOtherMethods(api: apigateway.RestApi, served: readonly ServedMethod[]): void {
  for (const [path, routes] of Map.groupBy(served, (route) => route.path)) {
    const resource = api.root.resourceForPath(path);
    const methods = routes.map(({ method }) => method);
    const isOpen = routes.some(({ publicClass }) => publicClass === 'visitor');
    if (isOpen) addMock(resource, 'OPTIONS', preflight(methods));
    addMock(resource, 'ANY', notAllowed(isOpen ? [...methods, 'OPTIONS'] : methods));
  }
}

/**
 * Answers an unknown path with 404, also with an Authorization header, which API Gateway would read as an AWS
 * signature where no resource matches. Each resource without a method gets one, and each without a variable
 * child a greedy child. A resource can have one variable child; the greedy one is then below it.
 */
export function answerUnknownPaths(api: apigateway.RestApi, served: readonly ServedMethod[]): void {
  const paths = new Set(served.map(({ path }) => path));
  const known = new Set([...paths].flatMap(listPrefixes));
  for (const path of known) {
    const resource = api.root.resourceForPath(path);
    if (!paths.has(path)) addMock(resource, 'ANY', NOT_FOUND);
    const hasVariable = [...known].some((other) => other.startsWith(`${path === '/' ? '' : path}/{`));
    if (!hasVariable) addMock(resource.addResource('{proxy+}'), 'ANY', NOT_FOUND);
  }
}

/** `/`, `/v1` and `/v1/webhooks` of `/v1/webhooks`. */
const listPrefixes = (path: string): string[] => {
  const parts = path.split('/').slice(1);
  return ['/', ...parts.map((_, index) => `/${parts.slice(0, index + 1).join('/')}`)];
};

interface Answer {
  statusCode: string;
  /** Values are constants or gateway variables. */
  headers: Record<string, string>;
  template?: string;
}

const notAllowed = (methods: readonly string[]): Answer => ({
  statusCode: '405',
  headers: { Allow: `'${methods.join(', ')}'` },
  template: envelope('METHOD_NOT_ALLOWED', 'The path does not have this method.'),
});

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

/**
 * A mock accepts only content types with a template, without wildcards: these are common ones. Others get the
 * gateway's response for content types, also a 405, without `Allow`.
 */
const MOCKED_TYPES = [
  'application/json',
  'application/cbor',
  'application/graphql',
  'application/javascript',
  'application/merge-patch+json',
  'application/json-patch+json',
  'application/problem+json',
  'application/ld+json',
  'application/vnd.api+json',
  'application/msgpack',
  'application/octet-stream',
  'application/pdf',
  'application/protobuf',
  'application/soap+xml',
  'application/x-ndjson',
  'application/x-protobuf',
  'application/x-www-form-urlencoded',
  'application/xml',
  'application/yaml',
  'application/zip',
  'image/jpeg',
  'image/png',
  'multipart/form-data',
  'multipart/mixed',
  'text/csv',
  'text/html',
  'text/javascript',
  'text/plain',
  'text/xml',
];

/** Makes the gateway answer a method without a function. */
function addMock(
  resource: apigateway.IResource,
  method: string,
  { statusCode, headers, template }: Answer,
): void {
  // Caches may store a 204 and a 405 by default (RFC 9110, 15.1).
  const all = { ...headers, 'Request-Id': REQUEST_ID, 'Cache-Control': "'no-store'" };
  const parameters = <T>(value: (header: string) => T): Record<string, T> =>
    Object.fromEntries(
      Object.entries(all).map(([name, header]) => [`method.response.header.${name}`, value(header)]),
    );
  resource.addMethod(
    method,
    new apigateway.MockIntegration({
      requestTemplates: Object.fromEntries(
        MOCKED_TYPES.map((type) => [type, `{"statusCode":${statusCode}}`]),
      ),
      passthroughBehavior: apigateway.PassthroughBehavior.WHEN_NO_TEMPLATES,
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
