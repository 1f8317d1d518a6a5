import { Aws, Duration, Stack } from 'aws-cdk-lib';
import * as events from 'aws-cdk-lib/aws-events';
import { Effect, PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type * as kms from 'aws-cdk-lib/aws-kms';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import * as sqs from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { DeadPublicationsEnvironment } from '../../functions/workers/dead-publications.ts';
import type { PublishEnvironment } from '../../functions/workers/publish.ts';
import { acknowledge } from './acknowledgements.ts';
import { feedFromQueue, feedFromStream } from './event-sources.ts';
import type { EnvironmentOf, GrantedResource } from './grants/resource.ts';
import {
  DEAD_ENTRIES_BOUND,
  DEAD_ENTRIES_SOURCE,
  DEAD_LETTERS_SECONDS,
  deadLetters,
  deadLettersOfStream,
  ServiceQueue,
  STREAM_RETRIES,
} from './lanes.ts';
import { type CodeOf, ServiceFunction } from './service-function.ts';
import { ServiceStack } from './stacks/service-stack.ts';
import type { Tables } from './tables.ts';
import { watchBehind, watchDeadLetters, watchFailures, watchRetried } from './watching.ts';

/** Alarm threshold for the publisher's lag. */
const BEHIND = { seconds: 600, minutes: 3 };
/**
 * Receives before a message is dead: with six timeouts between two of them, 20 take an hour for a function of
 * 30 seconds. Later failures need an operator.
 */
const MAX_RECEIVES = 20;
/** AWS's recommendation for a function's queue. */
const TIMEOUTS_HIDDEN = 6;

export interface WorkerQueues {
  queue: ServiceQueue;
  deadLetters: ServiceQueue;
}

/** The bus of change notifications for the service's workers, and the queues behind it. */
export class BusQueues extends Construct implements GrantedResource {
  readonly events: events.EventBus;
  /** Dead letters of the publisher's stream. */
  readonly deadPublications: ServiceQueue;
  /** Events for which the bus could not use its key. */
  readonly unreadable: sqs.Queue;
  private readonly key: kms.IKey | undefined;

  constructor(scope: Construct, id: string, key: kms.IKey | undefined) {
    super(scope, id);
    this.key = key;
    // Without the bus's key: the queue takes the events for which that key cannot be used.
    this.unreadable = new sqs.Queue(this, 'Unreadable', {
      visibilityTimeout: Duration.seconds(2 * DEAD_LETTERS_SECONDS),
      retentionPeriod: Duration.days(14),
      enforceSSL: true,
      encryption: sqs.QueueEncryption.SQS_MANAGED,
      removalPolicy: ServiceStack.of(this).removal,
    });
    acknowledge(this.unreadable, {
      SQS3: 'It is a dead-letter queue: of the bus, for events whose key could not be used.',
    });
    this.events = new events.EventBus(this, 'Events', {
      ...(key && { kmsKey: key }),
      deadLetterQueue: this.unreadable,
    });
    this.unreadable.addToResourcePolicy(this.mayFill(this.unreadable, this.events.eventBusArn));
    this.deadPublications = deadLettersOfStream(this, 'DeadPublications', key);
  }

  get environmentValue(): string {
    return this.events.eventBusName;
  }

  arnsOf(): string[] {
    return [this.events.eventBusArn];
  }

  /**
   * Creates a worker's queues, with the bus as a sender.
   * @param timeoutSeconds of the worker's function
   */
  queuesOf(worker: string, timeoutSeconds: number): WorkerQueues {
    const scope = new Construct(this, worker);
    const dead = deadLetters(scope, 'DeadLetters', this.key);
    const queue = new ServiceQueue(scope, 'Queue', {
      key: this.key,
      hiddenSeconds: TIMEOUTS_HIDDEN * timeoutSeconds,
      dead: { queue: dead, maxReceiveCount: MAX_RECEIVES },
    });
    for (const filled of [queue, dead]) filled.addToResourcePolicy(this.mayFill(filled, this.rules));
    return { queue, deadLetters: dead };
  }

  /** ARN pattern of the bus's rules: single ARNs would tie the queues to the rules' stack. */
  private get rules(): string {
    return Stack.of(this).formatArn({
      service: 'events',
      resource: 'rule',
      resourceName: `${this.events.eventBusName}/*`,
    });
  }

  /** @param source ARN of the rules or of the bus for which EventBridge sends */
  private mayFill(queue: sqs.Queue, source: string): PolicyStatement {
    return new PolicyStatement({
      effect: Effect.ALLOW,
      principals: [new ServicePrincipal('events.amazonaws.com')],
      actions: ['sqs:SendMessage'],
      resources: [queue.queueArn],
      conditions: {
        ArnLike: { 'aws:SourceArn': source },
        StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID },
      },
    });
  }
}

/** Publishes outbox entries to the bus. */
export class Bus extends Construct {
  readonly publish: ServiceFunction;
  private readonly bus: BusQueues;

  constructor(
    scope: Construct,
    id: string,
    { code, tables, bus }: { code: CodeOf; tables: Tables; bus: BusQueues },
  ) {
    super(scope, id);
    this.bus = bus;
    this.publish = new ServiceFunction(this, 'Publish', {
      name: 'publish',
      description: 'Puts what the outbox tells on the event bus',
      code,
      timeoutSeconds: 30,
      reserved: 'publish',
      environment: {
        EVENT_BUS: bus,
        DEAD_PUBLICATIONS: bus.deadPublications,
      } satisfies EnvironmentOf<typeof PublishEnvironment>,
    });
    feedFromStream(this.publish, tables.outbox, {
      batchSize: 100,
      filters: [lambda.FilterCriteria.filter({ eventName: lambda.FilterRule.isEqual('INSERT') })],
      reportBatchItemFailures: true,
      bisectBatchOnError: true,
      retryAttempts: STREAM_RETRIES,
      onFailure: bus.deadPublications,
    });
    this.addDeadPublications(code, tables);
    watchBehind(this.publish, {
      ...BEHIND,
      says: 'Metering and e-mail are late; a stream forgets its records after a day.',
      runbook: 'background.md#the-publisher-is-behind',
    });
    watchFailures(this.publish, {
      says: 'Metering and e-mail are late: the publisher fails.',
      runbook: 'background.md#the-publisher-is-behind',
    });
    watchRetried(this, 'PublicationsFailAgain', bus.deadPublications, {
      says: 'The publication of entries of the outbox has failed for a quarter of an hour: a function of its own repeats it, meanwhile they are not metered and mailed.',
      runbook: 'dead-letters.md#of-a-stream',
    });
    watchDeadLetters(this, 'UnreadableDead', bus.unreadable, {
      says: 'The bus could not encrypt or decrypt events: they are not metered and no e-mail is sent until an operator requeues them.',
      runbook: 'dead-letters.md#of-the-bus',
    });
  }

  private addDeadPublications(code: CodeOf, tables: Tables): void {
    const fn = new ServiceFunction(this, 'DeadPublicationsReader', {
      name: 'dead-publications',
      description: 'Puts on the event bus what the publisher failed on',
      code,
      timeoutSeconds: DEAD_LETTERS_SECONDS,
      loopBound: DEAD_ENTRIES_BOUND,
      environment: {
        EVENT_BUS: this.bus,
        OUTBOX_TABLE: tables.outbox,
        DEAD_PUBLICATIONS: this.bus.deadPublications,
      } satisfies EnvironmentOf<typeof DeadPublicationsEnvironment>,
      fromEvent: tables.outbox.stream,
    });
    feedFromQueue(fn, this.bus.deadPublications, DEAD_ENTRIES_SOURCE);
    watchFailures(fn, {
      says: 'What the publisher gave up is not repeated: it is not metered and mailed.',
      runbook: 'backlog.md#a-worker-fails',
    });
  }
}
