import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import * as logs from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import type { FunctionName } from './bundle.ts';

/** Where the code of a function is: bundled for a deployment, a placeholder in tests of the infrastructure. */
export type CodeOf = (name: FunctionName) => lambda.Code;

export interface ServiceFunctionProps {
  name: FunctionName;
  description: string;
  code: CodeOf;
  environment: Record<string, string>;
  timeoutSeconds: number;
  memoryMiB?: number;
}

/** The role of a function. What is granted to it is a part of it, not a resource beside it: a stack may have 500. */
class FunctionRole extends iam.Role {
  private readonly granted: iam.PolicyDocument;

  constructor(scope: Construct, id: string, description: string) {
    const grants = new iam.PolicyDocument();
    super(scope, id, {
      assumedBy: new iam.ServicePrincipal('lambda.amazonaws.com'),
      description,
      inlinePolicies: { Grants: grants },
    });
    this.granted = grants;
  }

  override addToPrincipalPolicy(statement: iam.PolicyStatement): iam.AddToPrincipalPolicyResult {
    this.granted.addStatements(statement);
    return { statementAdded: true, policyDependable: this };
  }
}

/**
 * A Lambda function as all of ours are: Node.js 24, structured logs in a group of its own that ends after a month, and a role
 * that may write these logs and nothing else until a grant says so.
 */
export class ServiceFunction extends lambda.Function {
  constructor(scope: Construct, id: string, props: ServiceFunctionProps) {
    const logGroup = new logs.LogGroup(scope, `${id}Logs`, {
      retention: logs.RetentionDays.ONE_MONTH,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const role = new FunctionRole(scope, `${id}Role`, `What ${props.name} may do`);
    logGroup.grantWrite(role);
    const environment: Record<string, string> = props.environment;
    super(scope, id, {
      description: props.description,
      runtime: lambda.Runtime.NODEJS_24_X,
      architecture: lambda.Architecture.ARM_64,
      code: props.code(props.name),
      handler: 'index.handler',
      memorySize: props.memoryMiB ?? 512,
      timeout: Duration.seconds(props.timeoutSeconds),
      environment: { ...environment, POWERTOOLS_SERVICE_NAME: props.name, POWERTOOLS_LOG_LEVEL: 'INFO' },
      role,
      logGroup,
      loggingFormat: lambda.LoggingFormat.JSON,
    });
  }
}
