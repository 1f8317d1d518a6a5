import { ArnFormat, Duration, Stack } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import * as logs from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { acknowledge } from './acknowledgements.ts';
import { metricsNamespace } from './alarms.ts';
import { type FunctionName, grantAccess } from './grants/grant.ts';
import { type GrantedResource, valuesOf } from './grants/resource.ts';
import { rolePath, ServiceStack } from './stacks/service-stack.ts';
import type { Reserved } from './stages.ts';

/** Source of a function's code: a bundle, or a placeholder in infrastructure tests. */
export type CodeOf = (name: FunctionName) => lambda.Code;

export interface ServiceFunctionProps {
  name: FunctionName;
  description: string;
  code: CodeOf;
  /** The function gets its code's actions on these resources (grants/access.json). */
  environment: Record<string, string | GrantedResource>;
  /** Resource that its events name, if any. */
  fromEvent?: GrantedResource;
  timeoutSeconds: number;
  memoryMiB?: number;
  /** Whether it connects to hosts that customers choose, by the stage's network if there is one. */
  reachesCustomers?: true;
  /** Name under which the stage may reserve concurrency. */
  reserved?: Reserved;
  /** Retries of a failed asynchronous invocation, by a schedule or an operator. Lambda's default is 2. */
  asyncRetries?: 0 | 1 | 2;
  /**
   * Why a chain of the function's own messages ends. Without a reason, Lambda stops the function at about its
   * 16th invocation in the chain and drops the message (Lambda Developer Guide, "Use Lambda recursive loop
   * detection to prevent infinite loops").
   */
  loopBound?: string;
}

/**
 * Lambda connects a function to a network with its role (Lambda Developer Guide, Required IAM permissions).
 * The function's code is denied the same (Using source function ARN).
 */
const NETWORK_ACTIONS = [
  'ec2:AssignPrivateIpAddresses',
  'ec2:CreateNetworkInterface',
  'ec2:DeleteNetworkInterface',
  'ec2:DescribeNetworkInterfaces',
  'ec2:DescribeSubnets',
  'ec2:UnassignPrivateIpAddresses',
];

/** A function's role with inline grants: a stack may have only 500 resources. */
export class FunctionRole extends iam.Role {
  private readonly granted: iam.PolicyDocument;

  constructor(scope: Construct, id: string, description: string) {
    const grants = new iam.PolicyDocument();
    super(scope, id, {
      assumedBy: new iam.ServicePrincipal('lambda.amazonaws.com'),
      description,
      path: rolePath(ServiceStack.of(scope).policy.stage),
      inlinePolicies: { Grants: grants },
    });
    this.granted = grants;
  }

  override addToPrincipalPolicy(statement: iam.PolicyStatement): iam.AddToPrincipalPolicyResult {
    this.granted.addStatements(statement);
    return { statementAdded: true, policyDependable: this };
  }

  /** @param functionName of the code that is denied what Lambda may do with the role */
  grantNetwork(functionName: string): void {
    const rule = { actions: NETWORK_ACTIONS, resources: ['*'] };
    const [service, resource] = ['lambda', 'function'];
    const arn = Stack.of(this).formatArn({
      service,
      resource,
      resourceName: functionName,
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
    });
    this.granted.addStatements(
      new iam.PolicyStatement(rule),
      new iam.PolicyStatement({
        ...rule,
        effect: iam.Effect.DENY,
        conditions: { ArnEquals: { 'lambda:SourceFunctionArn': arn } },
      }),
    );
    acknowledge(this, {
      'IAM5[Resource::*]': 'Lambda makes network interfaces, which have no name before; the code may not.',
    });
  }
}

/**
 * An encrypted log group with the stage's retention.
 * @param logGroupName set if AWS dictates it
 */
export function logGroup(scope: Construct, id: string, logGroupName?: string): logs.LogGroup {
  const { policy, common, removal } = ServiceStack.of(scope);
  return new logs.LogGroup(scope, id, {
    ...(logGroupName === undefined ? {} : { logGroupName }),
    retention: policy.logRetentionDays,
    ...(common.key && { encryptionKey: common.key }),
    removalPolicy: removal,
  });
}

/**
 * A Lambda function with the service's defaults: Node.js 24, structured logs in its own group, and a role
 * that may only write these logs until a grant adds to it.
 */
export class ServiceFunction extends lambda.Function {
  /** Its name within the stage. */
  readonly serves: FunctionName;

  constructor(scope: Construct, id: string, props: ServiceFunctionProps) {
    const stack = ServiceStack.of(scope);
    const group = logGroup(scope, `${id}Logs`);
    const role = new FunctionRole(scope, `${id}Role`, `What ${props.name} may do`);
    group.grantWrite(role);
    const network = props.reachesCustomers && stack.common.network;
    if (network) role.grantNetwork(stack.functionName(props.name));
    const reserved = props.reserved && stack.policy.reserved?.[props.reserved];
    super(scope, id, {
      functionName: stack.functionName(props.name),
      description: props.description,
      runtime: lambda.Runtime.NODEJS_24_X,
      architecture: lambda.Architecture.ARM_64,
      code: props.code(props.name),
      handler: 'index.handler',
      memorySize: props.memoryMiB ?? 512,
      timeout: Duration.seconds(props.timeoutSeconds),
      ...(reserved === undefined ? {} : { reservedConcurrentExecutions: reserved }),
      ...(props.asyncRetries === undefined ? {} : { retryAttempts: props.asyncRetries }),
      ...(props.loopBound === undefined ? {} : { recursiveLoop: lambda.RecursiveLoop.ALLOW }),
      environment: {
        ...valuesOf(props.environment),
        FUNCTION_NAME: props.name,
        LOG_LEVEL: stack.policy.logLevel,
        METRICS_NAMESPACE: metricsNamespace(scope),
      },
      ...(stack.common.encryptsEnvironment &&
        stack.common.key && { environmentEncryption: stack.common.key }),
      role,
      ...(network && {
        vpc: network.vpc,
        securityGroups: [network.securityGroup],
        ipv6AllowedForDualStack: true,
      }),
      logGroup: group,
      loggingFormat: lambda.LoggingFormat.JSON,
      // Lambda's lines for each invocation cost more than an attempt's; timeouts and memory errors are still
      // logged.
      systemLogLevelV2: lambda.SystemLogLevel.WARN,
    });
    this.serves = props.name;
    const { defaultChild } = this.node;
    // In the template, where infrastructure tests require it beside the property.
    if (props.loopBound !== undefined && defaultChild instanceof lambda.CfnFunction)
      defaultChild.addMetadata('LoopBound', props.loopBound);
    grantAccess(this, props.name, props.environment, props.fromEvent);
  }
}
