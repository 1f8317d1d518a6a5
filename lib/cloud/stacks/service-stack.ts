import { RemovalPolicy, Stack, Tags } from 'aws-cdk-lib';
import type * as kms from 'aws-cdk-lib/aws-kms';
import type * as sns from 'aws-cdk-lib/aws-sns';
import { DEFAULT_CROSS_STACK_REFERENCES } from 'aws-cdk-lib/cx-api';
import type { Construct } from 'constructs';
import type { Stage, StagePolicy } from '../stages.ts';

/** Path of the roles of a stage's functions, by which its keys know them. */
export const rolePath = (stage: Stage): string => `/conversation-service/${stage}/`;

/** What is the same in all stacks of a stage, for what is built in them. */
export interface Common {
  /** Of log groups. */
  logsKey: kms.IKey;
  /** Whom alarms tell. */
  alarmTopic: sns.ITopic;
  /** Where the runbooks are, which alarms link to. */
  runbooks: string;
}

/** A stack of the service. What is built in it asks it for what the stage decides. */
export abstract class ServiceStack extends Stack {
  readonly policy: StagePolicy;

  /**
   * @param isProtected against its deletion: where it is not, a creation that failed can be deleted and tried
   * again
   */
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
    // By exports: what is in use cannot be taken away.
    this.node.setContext(DEFAULT_CROSS_STACK_REFERENCES, 'strong');
  }

  abstract readonly common: Common;

  /** What becomes of data when its resource is taken out of the template. */
  get removal(): RemovalPolicy {
    return this.policy.keepsData ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY;
  }

  /** Name of a function: known without a reference, so that stacks need not hold on to one another. */
  functionName(name: string): string {
    return `conversation-service-${this.policy.stage}-${name}`;
  }

  /** Name of the API, by which its metrics are known. */
  get apiName(): string {
    return `Conversation Service API, ${this.policy.stage}`;
  }

  /** The stack that something is built in. @throws Error when it is another kind of stack */
  static override of(construct: Construct): ServiceStack {
    const stack = Stack.of(construct);
    if (stack instanceof ServiceStack) return stack;
    throw new Error(`${construct.node.path} is in no stack of the service`);
  }
}
