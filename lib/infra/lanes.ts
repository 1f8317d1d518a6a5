import { Duration } from 'aws-cdk-lib';
import type * as kms from 'aws-cdk-lib/aws-kms';
import * as sqs from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import {
  FIRST_LANES,
  JOB_LANES,
  LANE_TABLE,
  type Lane,
  mapLanes,
  type QueueVariable,
} from '../../functions/delivery/lanes.ts';
import type { AttemptClocks } from '../../functions/delivery/timing.ts';
import { acknowledge } from './acknowledgements.ts';
import type { GrantedResource } from './grants/resource.ts';
import { ServiceStack } from './stacks/service-stack.ts';
import { capitalized } from './stages.ts';

/**
 * Receives before a message is dead. A delivery needs at most 8, and one for each time that the dispatcher
 * could not work, 30 s apart: about 50 minutes of a dependency's outage.
 */
const MAX_RECEIVES = 100;

/** Lane queues of the delivery engine, and the dead-letter queues of the lanes and the stream. */
export class DeliveryQueues extends Construct {
  readonly lanes: Readonly<Record<Lane, ServiceQueue>>;
  /** Queue variables of functions that use all lanes, send first attempts, or send those of jobs. */
  readonly all: Readonly<Record<QueueVariable<typeof LANE_TABLE>, ServiceQueue>>;
  readonly first: Readonly<Record<QueueVariable<typeof FIRST_LANES>, ServiceQueue>>;
  readonly jobs: Readonly<Record<QueueVariable<typeof JOB_LANES>, ServiceQueue>>;
  /** Dead letters of the lanes. */
  readonly deadLetters: sqs.Queue;
  /** Dead letters of the fan-out's stream. */
  readonly deadFanOuts: ServiceQueue;

  constructor(
    scope: Construct,
    id: string,
    { clocks, key }: { clocks: AttemptClocks; key: kms.IKey | undefined },
  ) {
    super(scope, id);
    this.deadLetters = deadLetters(this, 'DeadLetters', key);
    const { windowSeconds } = ServiceStack.of(this).policy;
    this.lanes = mapLanes(
      (lane) =>
        new ServiceQueue(this, capitalized(lane), {
          key,
          // A message that waits in the batching window is already received.
          hiddenSeconds: clocks.visibility + windowSeconds[lane],
          dead: { queue: this.deadLetters, maxReceiveCount: MAX_RECEIVES },
        }),
    );
    this.all = this.environmentOf(LANE_TABLE);
    this.first = this.environmentOf(FIRST_LANES);
    this.jobs = this.environmentOf(JOB_LANES);
    this.deadFanOuts = deadLettersOfStream(this, 'DeadFanOuts', key);
  }

  private environmentOf<T extends Partial<Record<Lane, { queue: string }>>>(table: T) {
    return Object.fromEntries(
      Object.entries(table).map(([lane, { queue }]) => [queue, this.lanes[lane as Lane]]),
    ) as Record<QueueVariable<T>, ServiceQueue>;
  }
}

/** A queue with the service's defaults: encrypted in transit and at rest, longest retention. */
export class ServiceQueue extends sqs.Queue implements GrantedResource {
  constructor(
    scope: Construct,
    id: string,
    {
      key,
      hiddenSeconds,
      dead,
    }: { key: kms.IKey | undefined; hiddenSeconds: number; dead?: sqs.DeadLetterQueue },
  ) {
    super(scope, id, {
      visibilityTimeout: Duration.seconds(hiddenSeconds),
      retentionPeriod: Duration.days(14),
      enforceSSL: true,
      ...(key
        ? // The key is requested once per period and sender or receiver, which alone determines its cost.
          { encryptionMasterKey: key, dataKeyReuse: Duration.hours(1) }
        : { encryption: sqs.QueueEncryption.SQS_MANAGED }),
      removalPolicy: ServiceStack.of(scope).removal,
      ...(dead === undefined ? {} : { deadLetterQueue: dead }),
    });
  }

  get environmentValue(): string {
    return this.queueUrl;
  }

  arnsOf(): string[] {
    return [this.queueArn];
  }
}

/** Timeout of the functions that process dead letters. */
export const DEAD_LETTERS_SECONDS = 30;

/** Ends the chain of a function that puts an outbox entry back into its own queue. */
export const DEAD_ENTRIES_BOUND =
  'An entry is given up 3 days after its event, with an alarm and a log line.';

/**
 * Tries of a batch of the outbox's stream, which is repeated only when its function fails as a whole, or its
 * dead-letter queue does not take what failed.
 */
export const STREAM_RETRIES = 20;

/**
 * Of the functions that repeat entries of the outbox: in an outage all of a stage's events go through them.
 */
export const DEAD_ENTRIES_SOURCE = { batchSize: 10, maxConcurrency: 10 };

/** Dead-letter queue of failed work, until its function can process it. */
export const deadLetters = (scope: Construct, id: string, key: kms.IKey | undefined): ServiceQueue =>
  new ServiceQueue(scope, id, { key, hiddenSeconds: 2 * DEAD_LETTERS_SECONDS });

export function deadLettersOfStream(scope: Construct, id: string, key: kms.IKey | undefined): ServiceQueue {
  const queue = deadLetters(scope, id, key);
  acknowledge(queue, {
    SQS3: 'It is a dead-letter queue: of a stream, whose failed records it takes, which is not a redrive of another queue.',
  });
  return queue;
}
