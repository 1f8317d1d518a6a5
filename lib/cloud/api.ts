import { ArnFormat, RemovalPolicy, Stack } from 'aws-cdk-lib';
import * as apigateway from 'aws-cdk-lib/aws-apigateway';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { routes } from '../../functions/api/routes.ts';
import { withSessionRoutes } from '../openapi/session-routes.ts';
import { acknowledge } from './acknowledgements.ts';
import { DOCUMENTATION_ROUTES } from './documentation.ts';
import { addGatewayResponses, REQUEST_ID } from './gateway-responses.ts';
import { answerOtherMethods, answerUnknownPaths } from './other-methods.ts';
import { publicClassOf, publicThrottles, type ServedMethod } from './public-throttles.ts';
import { logGroup } from './service-function.ts';
import type { Settings } from './settings.ts';
import { SIGN_IN_ROUTES } from './sign-in.ts';
import { ServiceStack } from './stacks/service-stack.ts';

/** First part of the public path: /api/v1 with and without a custom domain. */
export const API_STAGE = 'api';

/** All methods that functions serve. */
const SERVED: readonly (ServedMethod & { name: string })[] = [
  ...Object.values(withSessionRoutes(routes)).map((route) => ({
    ...route,
    publicClass: publicClassOf(route),
  })),
  ...SIGN_IN_ROUTES.map((route) => ({ ...route, publicClass: 'signIn' as const })),
  ...DOCUMENTATION_ROUTES.map((route) => ({ ...route, publicClass: 'documentation' as const })),
];

/** CORS preflights for pages of other sites, answered by the gateway. */
const PREFLIGHTS = SERVED.filter(({ publicClass }) => publicClass === 'visitor').map(
  ({ path }): ServedMethod => ({ method: 'OPTIONS', path, publicClass: 'preflight' }),
);

/** The public API: a gateway method for each route of the table, and for the documentation. */
export class Api extends Construct {
  readonly rest: apigateway.RestApi;
  private readonly invocations = new Map<string, apigateway.Integration>();

  constructor(scope: Construct, id: string, { waf }: Pick<Settings, 'waf'>) {
    super(scope, id);
    const { policy } = ServiceStack.of(this);
    const logging = { loggingLevel: apigateway.MethodLoggingLevel.ERROR };
    this.rest = new apigateway.RestApi(this, 'Rest', {
      restApiName: ServiceStack.of(this).apiName,
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

    for (const { name, method, path } of SERVED)
      this.rest.root.resourceForPath(path).addMethod(method, this.invocationOf(name));
    answerOtherMethods(this.rest, SERVED);
    answerUnknownPaths(this.rest, SERVED);
  }

  /**
   * Invokes a function by name: a reference would keep the function's stack from removing it first. One
   * permission per function, instead of the CDK's one per method, leaves room for half as many routes more.
   */
  private invocationOf(name: string): apigateway.Integration {
    const known = this.invocations.get(name);
    if (known !== undefined) return known;
    const functionArn = Stack.of(this).formatArn({
      service: 'lambda',
      resource: 'function',
      resourceName: ServiceStack.of(this).functionName(name),
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
    });
    new lambda.CfnPermission(this, `Invoke-${name}`, {
      action: 'lambda:InvokeFunction',
      functionName: functionArn,
      principal: 'apigateway.amazonaws.com',
      sourceArn: this.rest.arnForExecuteApi('*', '/*', API_STAGE),
    });
    const invocation = new apigateway.AwsIntegration({
      proxy: true,
      service: 'lambda',
      path: `2015-03-31/functions/${functionArn}/invocations`,
    });
    this.invocations.set(name, invocation);
    return invocation;
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
