import * as z from 'zod';
import { LocalRunError } from '../errors.ts';
import type { InvocationResult } from '../functions/sandbox.ts';
import { gatewayInvocations } from '../permissions/gateway-invocations.ts';
import type { References } from '../template/references.ts';
import type { Resource, Template } from '../template/template.ts';
import { compileGatewayResponses, type GatewayResponses } from './gateway-responses.ts';
import { compileMock, type Mock } from './mock.ts';
import { RouteTree } from './route-tree.ts';
import { type Throttle, type ThrottleLimits, throttle, unthrottled } from './throttle.ts';

export interface Invocable {
  /** Never rejects: errors are in the result. */
  invokeSerialized(event: string): Promise<InvocationResult>;
}

export type Integration =
  | { kind: 'function'; target: Invocable; timeoutMs: number }
  | {
      kind: 'mock';
      respond: Mock;
      /** `ContentHandling: CONVERT_TO_TEXT`, without which a mock cannot read a binary body. */
      convertsToText: boolean;
    };

export interface Operation {
  resourceId: string;
  resourcePath: string;
  integration: Integration;
  /** Of this method: the stage's default settings give each method its own bucket. */
  takes: Throttle;
}

export interface RestApi {
  id: string;
  /** First segment of every path. */
  stage: string;
  operations: RouteTree<Operation>;
  gatewayResponses: GatewayResponses;
  /** Whether a media type is in `BinaryMediaTypes`. */
  isBinary: (mediaType: string) => boolean;
}

export const API_ID = 'local';
const ROOT_RESOURCE_ID = 'root';
const DEFAULT_TIMEOUT_MS = 29_000;

const ResourceProperties = z.object({ ParentId: z.string(), PathPart: z.string() });
const MethodProperties = z.object({
  HttpMethod: z.string(),
  ResourceId: z.string(),
  Integration: z.looseObject({
    Type: z.enum(['AWS_PROXY', 'MOCK']),
    Uri: z.string().optional(),
    Credentials: z.string().optional(),
    ContentHandling: z.string().optional(),
    TimeoutInMillis: z.number().default(DEFAULT_TIMEOUT_MS),
  }),
});
const ApiProperties = z.object({ BinaryMediaTypes: z.array(z.string()).default([]) });
const StageProperties = z.object({
  StageName: z.string(),
  MethodSettings: z
    .array(
      z.object({
        HttpMethod: z.string(),
        ResourcePath: z.string(),
        ThrottlingRateLimit: z.number().optional(),
        ThrottlingBurstLimit: z.number().optional(),
      }),
    )
    .default([]),
});

export function defineRestApi(template: Template, references: References): void {
  for (const { logicalId } of template.ofType('AWS::ApiGateway::RestApi')) {
    references.define(logicalId, {
      ref: API_ID,
      attributes: { RestApiId: API_ID, RootResourceId: ROOT_RESOURCE_ID },
    });
  }
  for (const type of ['AWS::ApiGateway::Resource', 'AWS::ApiGateway::Deployment']) {
    for (const { logicalId } of template.ofType(type)) references.define(logicalId, { ref: logicalId });
  }
  for (const { logicalId, properties } of template.ofType('AWS::ApiGateway::Stage')) {
    references.define(logicalId, { ref: StageProperties.parse(properties).StageName });
  }
}

/**
 * Compiles the template's REST API.
 * @param functionOf finds a function by its ARN
 * @throws LocalRunError unless there is exactly one API with one stage and only supported parts
 */
export function compileRestApi(
  template: Template,
  references: References,
  functionOf: (arn: string) => Invocable,
): RestApi {
  const api = onlyOne(template, 'AWS::ApiGateway::RestApi');
  const { StageName: stage, MethodSettings } = StageProperties.parse(
    references.resolve(onlyOne(template, 'AWS::ApiGateway::Stage').properties),
  );
  const paths = resourcePaths(template, references);
  const operations = new RouteTree<Operation>();
  const invocations = gatewayInvocations(template, references, { apiId: API_ID, stage });
  const limitsOf = methodLimits(MethodSettings);
  for (const method of template.ofType('AWS::ApiGateway::Method')) {
    const { HttpMethod, ResourceId, Integration } = MethodProperties.parse(
      references.resolve(method.properties),
    );
    const resourcePath = paths.get(ResourceId);
    if (resourcePath === undefined)
      throw new LocalRunError(`${method.logicalId}: no such API resource: ${ResourceId}`);
    const integration = compileIntegration(Integration, method.logicalId, (arn) => {
      invocations.require(
        { method: HttpMethod, resourcePath, ...Integration, functionArn: arn },
        method.logicalId,
      );
      return functionOf(arn);
    });
    const limits = limitsOf.take(`${HttpMethod} ${resourcePath}`);
    const takes = limits === undefined ? unthrottled : throttle(limits);
    operations.add(resourcePath, HttpMethod, { resourceId: ResourceId, resourcePath, integration, takes });
  }
  limitsOf.assertAllTaken();
  const responses = template.ofType('AWS::ApiGateway::GatewayResponse').map(({ logicalId, properties }) => ({
    logicalId,
    properties: references.resolve(properties),
  }));
  const { BinaryMediaTypes } = ApiProperties.parse(references.resolve(api.properties));
  return {
    id: API_ID,
    stage,
    operations,
    gatewayResponses: compileGatewayResponses(responses),
    isBinary: (mediaType) => BinaryMediaTypes.includes('*/*') || BinaryMediaTypes.includes(mediaType),
  };
}

/**
 * Throttling limits of methods. API Gateway applies a stage's settings to each method separately: without its
 * own settings a method has a bucket with the default limits (API Gateway Developer Guide, Throttle requests
 * to your REST APIs).
 */
function methodLimits(settings: z.output<typeof StageProperties>['MethodSettings']) {
  const limits = new Map<string, ThrottleLimits>();
  for (const { HttpMethod, ResourcePath, ThrottlingRateLimit: rate, ThrottlingBurstLimit: burst } of settings)
    if (rate !== undefined)
      limits.set(`${HttpMethod} ${decodeResourcePath(ResourcePath)}`, { rate, burst: burst ?? rate });
  const left = new Set(limits.keys());
  left.delete(ALL_METHODS);
  return {
    /** @param method such as `GET /v1/things` */
    take(method: string): ThrottleLimits | undefined {
      left.delete(method);
      return limits.get(method) ?? limits.get(ALL_METHODS);
    },
    /** @throws LocalRunError when settings name a method that the API does not have */
    assertAllTaken(): void {
      for (const method of left) throw new LocalRunError(`MethodSettings: there is no method ${method}`);
    },
  };
}

const ALL_METHODS = '* /*';

/** `/~1v1~1things` is `/v1/things` (API reference, MethodSetting: slashes are encoded as `~1`). */
const decodeResourcePath = (path: string): string => path.replace(/^\/(?=~1)/, '').replaceAll('~1', '/');

function onlyOne(template: Template, type: string): Resource {
  const [first, ...others] = template.ofType(type);
  if (!first || others.length > 0)
    throw new LocalRunError(`The local run needs exactly one ${type} in the template`);
  return first;
}

/** Paths by resource id, for resources in any order. */
function resourcePaths(template: Template, references: References): Map<string, string> {
  const resources = new Map(
    template
      .ofType('AWS::ApiGateway::Resource')
      .map(({ logicalId, properties }) => [
        logicalId,
        ResourceProperties.parse(references.resolve(properties)),
      ]),
  );
  for (const [id, { ParentId, PathPart }] of resources) {
    const sibling = [...resources].find(
      ([other, it]) => other !== id && it.ParentId === ParentId && [it.PathPart, PathPart].every(isVariable),
    );
    if (sibling)
      throw new LocalRunError(
        `${id}: A sibling (${sibling[1].PathPart}) of this resource already has a variable path part -- only one is allowed`,
      );
  }
  const resolvePath = (id: string): string => {
    const resource = resources.get(id);
    return resource ? `${resolvePath(resource.ParentId)}/${resource.PathPart}` : '';
  };
  return new Map([
    [ROOT_RESOURCE_ID, '/'],
    ...[...resources.keys()].map((id): [string, string] => [id, resolvePath(id)]),
  ]);
}

const isVariable = (part: string): boolean => part.startsWith('{');

function compileIntegration(
  integration: z.output<typeof MethodProperties>['Integration'],
  where: string,
  functionOf: (arn: string) => Invocable,
): Integration {
  if (integration.Type === 'MOCK') {
    const convertsToText = integration.ContentHandling === 'CONVERT_TO_TEXT';
    return { kind: 'mock', respond: compileMock(integration, where), convertsToText };
  }
  const [, arn] = /\/functions\/(arn:[^/]+)\/invocations$/.exec(integration.Uri ?? '') ?? [];
  if (arn === undefined)
    throw new LocalRunError(`${where}: integration not supported by the local run: ${integration.Uri}`);
  return { kind: 'function', target: functionOf(arn), timeoutMs: integration.TimeoutInMillis };
}
