import { Duration } from 'aws-cdk-lib';
import * as sqs from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { Lane } from '../../functions/domain/lanes.ts';
import type { AttemptClocks } from '../../functions/domain/timing.ts';
import type { ServiceFunction } from './service-function.ts';

/**
 * Receives of one message before its queue gives it up. A delivery needs at most 8, and one more for each time that the
 * dispatcher could not work, 30 s apart: this is some 50 minutes of a dependency's outage.
 */
const MAX_RECEIVES = 100;

/** Batches of a lane under way at once; each holds ten attempts. */
export const DISPATCHERS: Readonly<Record<Lane, number>> = { fresh: 100, retry: 50, slow: 40 };

/** The delivery queues, and where they leave what they gave up. */
export class Lanes extends Construct {
  readonly queues: Readonly<Record<Lane, sqs.Queue>>;
  readonly deadLetters: sqs.Queue;

  constructor(scope: Construct, id: string, clocks: AttemptClocks) {
    super(scope, id);
    const dead = deadLetters(this, 'DeadLetters');
    const queue = (name: string) =>
      new sqs.Queue(this, name, {
        visibilityTimeout: Duration.seconds(clocks.visibility),
        retentionPeriod: Duration.days(14),
        enforceSSL: true,
        deadLetterQueue: { queue: dead, maxReceiveCount: MAX_RECEIVES },
      });
    this.deadLetters = dead;
    this.queues = { fresh: queue('Fresh'), retry: queue('Retry'), slow: queue('Slow') };
  }
}

/** Timeout of the functions that deal with dead letters. */
export const DEAD_LETTERS_SECONDS = 30;

/** Holds what failed, until the function that deals with it could. */
export const deadLetters = (scope: Construct, id: string): sqs.Queue =>
  new sqs.Queue(scope, id, {
    visibilityTimeout: Duration.seconds(2 * DEAD_LETTERS_SECONDS),
    retentionPeriod: Duration.days(14),
    enforceSSL: true,
  });

/** `grantSendMessages` would add GetQueueUrl and GetQueueAttributes. */
export const allowSend = (queue: sqs.Queue, fn: ServiceFunction): void => {
  queue.grant(fn, 'sqs:SendMessage');
};
/** How many messages a queue has. */
export const allowMeasure = (queue: sqs.Queue, fn: ServiceFunction): void => {
  queue.grant(fn, 'sqs:GetQueueAttributes');
};
