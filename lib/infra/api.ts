import { ArnFormat, RemovalPolicy, Stack } from 'aws-cdk-lib';
import * as apigateway from 'aws-cdk-lib/aws-apigateway';
import * as iam from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import { acknowledge } from './acknowledgements.ts';
import { notFoundMock, preflightMock } from './gateway-mocks.ts';
import { gatewayResponses, REQUEST_ID } from './gateway-responses.ts';
import type { FunctionName } from './grants/grant.ts';
import { publicThrottles } from './public-throttles.ts';
import { METHOD_NOT_ALLOWED, PREFLIGHTS, SERVED } from './served-methods.ts';
import { logGroup } from './service-function.ts';
import type { Settings } from './settings.ts';
import { ServiceStack } from './stacks/service-stack.ts';

/** First part of the public path: /api/v1 with and without a custom domain. */
export const API_STAGE = 'api';

/**
 * The public API: a gateway method for each route of the table, and for the documentation. Imported as one
 * OpenAPI document, because API Gateway allows an account few calls a second to make its parts one by one
 * (API Gateway Developer Guide, Quotas for creating, deploying and managing an API).
 */
export class Api extends Construct {
  readonly rest: apigateway.SpecRestApi;

  constructor(scope: Construct, id: string, { waf }: Pick<Settings, 'waf'>) {
    super(scope, id);
    const { policy } = ServiceStack.of(this);
    const logging = { loggingLevel: apigateway.MethodLoggingLevel.ERROR };
    this.rest = new apigateway.SpecRestApi(this, 'Rest', {
      restApiName: ServiceStack.of(this).apiName,
      apiDefinition: apigateway.ApiDefinition.fromInline(this.definition()),
      mode: apigateway.RestApiMode.OVERWRITE,
      endpointTypes: [apigateway.EndpointType.REGIONAL],
      cloudWatchRole: true,
      // The role is a setting of the account's region: deleting it with one stage would end the others' logs.
      cloudWatchRoleRemovalPolicy: RemovalPolicy.RETAIN,
      deployOptions: {
        stageName: API_STAGE,
        accessLogDestination: new apigateway.LogGroupLogDestination(logGroup(this, 'AccessLog')),
        accessLogFormat: apigateway.AccessLogFormat.custom(ACCESS_LOG),
        ...logging,
        throttlingRateLimit: policy.throttle.rate,
        throttlingBurstLimit: policy.throttle.burst,
        methodOptions: publicThrottles([...SERVED, ...PREFLIGHTS], policy.throttle, logging),
      },
    });
    // API Gateway creates a missing group itself, without a key and without a retention.
    const executionLog = logGroup(
      this,
      'ExecutionLog',
      `API-Gateway-Execution-Logs_${this.rest.restApiId}/${API_STAGE}`,
    );
    this.rest.deploymentStage.node.addDependency(executionLog);
    acknowledge(this.rest, {
      APIG2:
        'Requests are validated in the functions, by the schemas that the route table declares; the gateway could not name the field at fault in our envelope.',
      'IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs]':
        "The gateway's own role to write logs, for which AWS gives this policy; the account has one such role.",
    });

    if (!waf)
      acknowledge(this.rest, {
        APIG3:
          'A web ACL is for who deploys to choose (context waf), or to associate by an account-wide policy; stage prod has one by default.',
      });
  }

  /** Each served method, and on each path one function for all others. */
  private definition(): object {
    const role = this.addInvoker([...new Set([...SERVED.map(({ name }) => name), METHOD_NOT_ALLOWED])]);
    const paths: Record<string, Record<string, object>> = {};
    const add = (path: string, method: string, operation: object) => {
      paths[path] ??= {};
      paths[path][method === 'ANY' ? ANY_METHOD : method.toLowerCase()] = withParameters(path, operation);
    };
    for (const { name, method, path } of SERVED) add(path, method, this.invocationOf(name, role));
    for (const path of Object.keys(paths)) add(path, 'ANY', this.invocationOf(METHOD_NOT_ALLOWED, role));
    for (const { method, path } of PREFLIGHTS) add(path, method, preflightMock(method, path));
    for (const path of ['/', '/{proxy+}']) add(path, 'ANY', notFoundMock());
    return {
      openapi: '3.0.1',
      info: { title: ServiceStack.of(this).apiName, version: 'v1' },
      // Bodies reach functions as base64: as text the gateway would replace bytes that are not UTF-8.
      'x-amazon-apigateway-binary-media-types': ['*/*'],
      'x-amazon-apigateway-gateway-responses': gatewayResponses(),
      paths,
    };
  }

  /**
   * The role with which API Gateway invokes functions (API Gateway Developer Guide, Control access to a REST
   * API with IAM permissions). Permissions on the functions would take 60 of the stack's 500 resources.
   */
  private addInvoker(names: readonly FunctionName[]): iam.Role {
    return new iam.Role(this, 'Invoker', {
      assumedBy: new iam.ServicePrincipal('apigateway.amazonaws.com'),
      description: 'Invokes the functions of the API',
      inlinePolicies: {
        Invoke: new iam.PolicyDocument({
          statements: [
            new iam.PolicyStatement({
              actions: ['lambda:InvokeFunction'],
              resources: names.map((name) => this.functionArn(name)),
            }),
          ],
        }),
      },
    });
  }

  private invocationOf(name: FunctionName, role: iam.IRole): object {
    const { partition, region } = Stack.of(this);
    const functionPath = `2015-03-31/functions/${this.functionArn(name)}/invocations`;
    return {
      responses: {},
      'x-amazon-apigateway-integration': {
        type: 'aws_proxy',
        httpMethod: 'POST',
        uri: `arn:${partition}:apigateway:${region}:lambda:path/${functionPath}`,
        credentials: role.roleArn,
      },
    };
  }

  /** By name: a reference would keep the function's stack from removing it first. */
  private functionArn(name: FunctionName): string {
    return Stack.of(this).formatArn({
      service: 'lambda',
      resource: 'function',
      resourceName: ServiceStack.of(this).functionName(name),
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
    });
  }
}

/** API Gateway's extension of OpenAPI for the methods that a path does not name. */
const ANY_METHOD = 'x-amazon-apigateway-any-method';

/** An operation that declares the variables of its path, as OpenAPI wants it. */
function withParameters(path: string, operation: object): object {
  const variables = [...path.matchAll(/\{(\w+)\+?\}/g)].map(([, name]) => name);
  if (variables.length === 0) return operation;
  const schema = { type: 'string' };
  return {
    parameters: variables.map((name) => ({ name, in: 'path', required: true, schema })),
    ...operation,
  };
}

/** Fields of the access log; no value that a caller chose. */
export const ACCESS_LOG = JSON.stringify({
  requestId: `$${REQUEST_ID}`,
  time: '$context.requestTime',
  method: '$context.httpMethod',
  path: '$context.resourcePath',
  status: '$context.status',
  latencyMs: '$context.responseLatency',
  integrationLatencyMs: '$context.integrationLatency',
  bytes: '$context.responseLength',
  sourceIp: '$context.identity.sourceIp',
});
