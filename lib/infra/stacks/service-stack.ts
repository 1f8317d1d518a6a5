import {
  CfnElement,
  CfnOutput,
  DefaultStackSynthesizer,
  Fn,
  NestedStack,
  PermissionsBoundary,
  RemovalPolicy,
  Stack,
  Tags,
} from 'aws-cdk-lib';
import type * as ec2 from 'aws-cdk-lib/aws-ec2';
import type * as kms from 'aws-cdk-lib/aws-kms';
import type * as sns from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';
import type { StagePolicy } from '../stages.ts';

/** Path of the roles of a stage's functions, for key policies. */
export const rolePath = (stage: string): string => `/conversation-service/${stage}/`;

/** Shared by all stacks of a stage. */
export interface Common {
  /** Encrypts all data; AWS's own keys do where it is absent. */
  key: kms.IKey | undefined;
  /** Whether environment variables are encrypted with it too. */
  encryptsEnvironment: boolean;
  /** Absent in a stage without alarms. */
  alarmTopic: sns.ITopic | undefined;
  /** Base URL of the runbooks, for links in alarms. */
  runbooks: string;
  /** Network of the functions that connect to customers' hosts; without it they have Lambda's addresses. */
  network?: { vpc: ec2.IVpc; securityGroup: ec2.ISecurityGroup };
}

/**
 * The one stack of a stage, which contains the others: a deployment is done, or undone, as a whole, and
 * nothing is exported that a later release could not remove.
 */
export class StageStack extends Stack {
  readonly policy: StagePolicy;

  constructor(scope: Construct, policy: StagePolicy) {
    const { qualifier, permissionsBoundary } = policy.bootstrap;
    super(scope, `ConversationService-${policy.stage}`, {
      description: `Conversation Service API, ${policy.stage}`,
      terminationProtection: policy.keepsData,
      ...(policy.env && { env: policy.env }),
      ...(qualifier && { synthesizer: new DefaultStackSynthesizer({ qualifier }) }),
      ...(permissionsBoundary && {
        permissionsBoundary: PermissionsBoundary.fromName(permissionsBoundary),
      }),
    });
    this.policy = policy;
    for (const [name, value] of [
      ['service', 'conversation-service'],
      ['stage', policy.stage],
    ] as const)
      Tags.of(this).add(name, value);
  }
}

/** A stack nested in that of the stage, from which its constructs read the stage's settings. */
export abstract class ServiceStack extends NestedStack {
  readonly policy: StagePolicy;
  private readonly stage: StageStack;

  constructor(stage: StageStack, name: string, description: string) {
    super(stage, name, { description: `Conversation Service API, ${stage.policy.stage}: ${description}` });
    this.stage = stage;
    this.policy = stage.policy;
    // CloudFormation names its resources after it.
    const { nestedStackResource } = this;
    if (CfnElement.isCfnElement(nestedStackResource)) nestedStackResource.overrideLogicalId(name);
  }

  /** Adds an output to the stage's stack. */
  output(name: string, value: string, description?: string): void {
    new CfnOutput(this.stage, name, { value, ...(description !== undefined && { description }) });
  }

  abstract readonly common: Common;

  /** By number: the CDK would ask the account for their names. */
  override get availabilityZones(): string[] {
    return [0, 1].map((index) => Fn.select(index, Fn.getAzs()));
  }

  /** For data whose resource leaves the template. */
  get removal(): RemovalPolicy {
    return this.policy.keepsData ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY;
  }

  /** Name of a function, known without a reference that would tie stacks together. */
  functionName(name: string): string {
    return `conversation-service-${this.policy.stage}-${name}`;
  }

  /** ARN of the stage's stack. */
  get stageStackId(): string {
    return this.stage.stackId;
  }

  /** Name of the API in its metrics. */
  get apiName(): string {
    return `Conversation Service API, ${this.policy.stage}`;
  }

  /**
   * Stack of a construct.
   * @throws Error when it is another kind of stack
   */
  static override of(construct: Construct): ServiceStack {
    const stack = Stack.of(construct);
    if (stack instanceof ServiceStack) return stack;
    throw new Error(`${construct.node.path} is in no stack of the service`);
  }
}
