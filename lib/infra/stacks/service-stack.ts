import { RemovalPolicy, Stack, Tags } from 'aws-cdk-lib';
import type * as kms from 'aws-cdk-lib/aws-kms';
import type * as sns from 'aws-cdk-lib/aws-sns';
import { DEFAULT_CROSS_STACK_REFERENCES } from 'aws-cdk-lib/cx-api';
import type { Construct } from 'constructs';
import type { Stage, StagePolicy } from '../stages.ts';

/** Path of the roles of a stage's functions, for key policies. */
export const rolePath = (stage: Stage): string => `/conversation-service/${stage}/`;

/** Shared by all stacks of a stage. */
export interface Common {
  /** Encrypts log groups. */
  logsKey: kms.IKey;
  alarmTopic: sns.ITopic;
  /** Base URL of the runbooks, for links in alarms. */
  runbooks: string;
}

/** A stack of the service, from which its constructs read the stage's settings. */
export abstract class ServiceStack extends Stack {
  readonly policy: StagePolicy;

  /** @param isProtected against deletion; without it a failed creation can be deleted and retried */
  constructor(scope: Construct, name: string, description: string, policy: StagePolicy, isProtected = false) {
    super(scope, `ConversationService-${policy.stage}-${name}`, {
      description: `Conversation Service API, ${policy.stage}: ${description}`,
      terminationProtection: isProtected,
    });
    this.policy = policy;
    for (const [name, value] of [
      ['service', 'conversation-service'],
      ['stage', policy.stage],
    ] as const)
      Tags.of(this).add(name, value);
    // By exports, so that a resource in use cannot be removed.
    this.node.setContext(DEFAULT_CROSS_STACK_REFERENCES, 'strong');
  }

  abstract readonly common: Common;

  /** For data whose resource leaves the template. */
  get removal(): RemovalPolicy {
    return this.policy.keepsData ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY;
  }

  /** Name of a function, known without a reference that would tie stacks together. */
  functionName(name: string): string {
    return `conversation-service-${this.policy.stage}-${name}`;
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
