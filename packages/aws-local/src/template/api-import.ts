import * as z from 'zod';
import { LocalRunError } from '../errors.ts';

const INTEGRATION = 'x-amazon-apigateway-integration';
const ANY_METHOD = 'x-amazon-apigateway-any-method';
const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', ANY_METHOD];

const Texts = z.record(z.string(), z.string());
const Response = z.strictObject({
  statusCode: z.string(),
  responseParameters: Texts.optional(),
  responseTemplates: Texts.optional(),
});
const Operation = z.strictObject({
  parameters: z.unknown().optional(),
  responses: z.record(z.string(), z.object({ headers: z.record(z.string(), z.unknown()).default({}) })),
  [INTEGRATION]: z.strictObject({
    type: z.enum(['aws_proxy', 'mock']),
    httpMethod: z.string().optional(),
    uri: z.unknown().optional(),
    credentials: z.unknown().optional(),
    contentHandling: z.string().optional(),
    passthroughBehavior: z.enum(['never', 'when_no_match', 'when_no_templates']).optional(),
    requestTemplates: Texts.optional(),
    responses: z.record(z.string(), Response).default({}),
    timeoutInMillis: z.number().optional(),
  }),
});
const Body = z.strictObject({
  openapi: z.string().startsWith('3.0'),
  info: z.unknown(),
  'x-amazon-apigateway-binary-media-types': z.array(z.string()).default([]),
  'x-amazon-apigateway-gateway-responses': z
    .record(z.string(), Response.partial({ statusCode: true }))
    .default({}),
  paths: z.record(z.string(), z.record(z.string(), Operation)),
});

type Resources = Readonly<Record<string, unknown>>;

/**
 * Replaces the OpenAPI document of each REST API by the resources that API Gateway makes of it (API Gateway
 * Developer Guide, OpenAPI extensions for API Gateway).
 * @throws LocalRunError naming what the local run does not know
 */
export function importApis(resources: Resources): Resources {
  return Object.fromEntries(
    Object.entries(resources).flatMap(([logicalId, resource]) => {
      const { Type, Properties, ...others } = Object(resource);
      const { Body: body, Mode: _, ...properties } = Object(Properties);
      if (Type !== 'AWS::ApiGateway::RestApi' || body === undefined) return [[logicalId, resource]];
      const parsed = Body.safeParse(body);
      if (!parsed.success)
        throw new LocalRunError(
          `${logicalId} (${Type}): the local run does not know this part of its Body: ${z.prettifyError(parsed.error)}`,
        );
      const { 'x-amazon-apigateway-binary-media-types': BinaryMediaTypes } = parsed.data;
      const api = { Type, Properties: { ...properties, BinaryMediaTypes }, ...others };
      return [[logicalId, api], ...Object.entries(partsOf(logicalId, parsed.data))];
    }),
  );
}

function partsOf(api: string, body: z.output<typeof Body>): Resources {
  const RestApiId = { Ref: api };
  // Without the hash by which the CDK tells logical ids apart.
  const prefix = api.replace(/[0-9A-F]{8}$/, '');
  const idOf = (...names: readonly string[]): string => {
    let id = `${prefix}${names.join('').replaceAll(/[^A-Za-z0-9]/g, '')}`;
    while (Object.hasOwn(parts, id)) id += 'X';
    return id;
  };
  const parts: Record<string, unknown> = {};
  const ids = new Map<string, unknown>([['', { 'Fn::GetAtt': [api, 'RootResourceId'] }]]);
  const resourceId = (path: string): unknown => {
    const known = ids.get(path);
    if (known !== undefined) return known;
    const at = path.lastIndexOf('/');
    const ParentId = resourceId(path.slice(0, at));
    const id = idOf(path);
    parts[id] = {
      Type: 'AWS::ApiGateway::Resource',
      Properties: { RestApiId, ParentId, PathPart: path.slice(at + 1) },
    };
    ids.set(path, { Ref: id });
    return { Ref: id };
  };
  for (const [path, methods] of Object.entries(body.paths)) {
    const ResourceId = resourceId(path.replace(/\/$/, ''));
    for (const [method, operation] of Object.entries(methods)) {
      if (!METHODS.includes(method))
        throw new LocalRunError(`${api}: the local run does not know ${method} of ${path}`);
      const HttpMethod = method === ANY_METHOD ? 'ANY' : method.toUpperCase();
      parts[idOf(path, HttpMethod)] = {
        Type: 'AWS::ApiGateway::Method',
        Properties: { RestApiId, ResourceId, HttpMethod, AuthorizationType: 'NONE', ...methodOf(operation) },
      };
    }
  }
  for (const [type, response] of Object.entries(body['x-amazon-apigateway-gateway-responses']))
    parts[idOf(type)] = {
      Type: 'AWS::ApiGateway::GatewayResponse',
      Properties: { RestApiId, ResponseType: type, ...responseOf(response) },
    };
  return parts;
}

function methodOf({ responses, [INTEGRATION]: integration }: z.output<typeof Operation>): object {
  return defined({
    Integration: defined({
      Type: integration.type.toUpperCase(),
      IntegrationHttpMethod: integration.httpMethod,
      Uri: integration.uri,
      Credentials: integration.credentials,
      ContentHandling: integration.contentHandling,
      PassthroughBehavior: integration.passthroughBehavior?.toUpperCase(),
      RequestTemplates: integration.requestTemplates,
      TimeoutInMillis: integration.timeoutInMillis,
      IntegrationResponses: listed(
        Object.entries(integration.responses).map(([pattern, response]) => ({
          ...(pattern !== 'default' && { SelectionPattern: pattern }),
          ...responseOf(response),
        })),
      ),
    }),
    MethodResponses: listed(
      Object.entries(responses).map(([StatusCode, { headers }]) => ({
        StatusCode,
        ResponseParameters: Object.fromEntries(
          Object.keys(headers).map((name) => [`method.response.header.${name}`, true]),
        ),
      })),
    ),
  });
}

const responseOf = ({
  statusCode,
  responseParameters,
  responseTemplates,
}: Partial<z.output<typeof Response>>) =>
  defined({
    StatusCode: statusCode,
    ResponseParameters: responseParameters,
    ResponseTemplates: responseTemplates,
  });

const listed = (items: readonly object[]) => (items.length === 0 ? undefined : items);

const defined = (values: Readonly<Record<string, unknown>>): object =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
