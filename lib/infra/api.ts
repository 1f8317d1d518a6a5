import { ArnFormat, RemovalPolicy, Stack } from 'aws-cdk-lib';
import * as apigateway from 'aws-cdk-lib/aws-apigateway';
import * as iam from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import { acknowledge } from './acknowledgements.ts';
import { answerPreflights, answerUnknownPaths } from './gateway-mocks.ts';
import { addGatewayResponses, REQUEST_ID } from './gateway-responses.ts';
import type { FunctionName } from './grants/grant.ts';
import { publicThrottles } from './public-throttles.ts';
import { METHOD_NOT_ALLOWED, PREFLIGHTS, SERVED } from './served-methods.ts';
import { logGroup } from './service-function.ts';
import type { Settings } from './settings.ts';
import { ServiceStack } from './stacks/service-stack.ts';

/** First part of the public path: /api/v1 with and without a custom domain. */
export const API_STAGE = 'api';

/** The public API: a gateway method for each route of the table, and for the documentation. */
export class Api extends Construct {
  readonly rest: apigateway.RestApi;

  constructor(scope: Construct, id: string, { waf }: Pick<Settings, 'waf'>) {
    super(scope, id);
    const { policy } = ServiceStack.of(this);
    const logging = { loggingLevel: apigateway.MethodLoggingLevel.ERROR };
    this.rest = new apigateway.RestApi(this, 'Rest', {
      restApiName: ServiceStack.of(this).apiName,
      endpointTypes: [apigateway.EndpointType.REGIONAL],
      // Bodies reach functions as base64: as text the gateway would replace bytes that are not UTF-8.
      binaryMediaTypes: ['*/*'],
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
    addGatewayResponses(this.rest);
    acknowledge(this.rest, {
      APIG2:
        'Requests are validated in the functions, by the schemas that the route table declares; the gateway could not name the field at fault in our envelope.',
      APIG4:
        'Every route but the documentation and the sign-in authenticates its caller in its function, before anything else: an API key by a digest that no gateway authorizer could look up without a function more.',
      COG4: 'Sessions are verified in the functions, as API keys are: the answers name what is missing in our envelope, and any OpenID Connect issuer can take the place of the user pool.',
      'IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs]':
        "The gateway's own role to write logs, for which AWS gives this policy; the account has one such role.",
    });

    if (!waf)
      acknowledge(this.rest, {
        APIG3:
          'A web ACL is for who deploys to choose (context waf), or to associate by an account-wide policy; stage prod has one by default.',
      });

    this.addFunctions();
    answerPreflights(this.rest, PREFLIGHTS);
    answerUnknownPaths(this.rest);
  }

  /** Each served method, and on each path one function for all others. */
  private addFunctions(): void {
    const names = [...new Set([...SERVED.map(({ name }) => name), METHOD_NOT_ALLOWED])];
    const role = this.addInvoker(names);
    const integrations = new Map(names.map((name) => [name, this.invocationOf(name, role)]));
    const otherMethods = [...new Set(SERVED.map(({ path }) => path))].map((path) => ({
      path,
      method: 'ANY',
      name: METHOD_NOT_ALLOWED,
    }));
    for (const { name, method, path } of [...SERVED, ...otherMethods])
      this.rest.root.resourceForPath(path).addMethod(method, integrations.get(name));
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

  private invocationOf(name: FunctionName, credentialsRole: iam.IRole): apigateway.Integration {
    return new apigateway.AwsIntegration({
      proxy: true,
      service: 'lambda',
      path: `2015-03-31/functions/${this.functionArn(name)}/invocations`,
      options: { credentialsRole },
    });
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
