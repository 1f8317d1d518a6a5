import { Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import * as events from 'aws-cdk-lib/aws-events';
import { SqsQueue } from 'aws-cdk-lib/aws-events-targets';
import { SqsEventSource } from 'aws-cdk-lib/aws-lambda-event-sources';
import * as sqs from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { BUS_SOURCE } from '../../functions/domain/bus.ts';
import { acknowledge } from './acknowledgements.ts';
import { alarmAt } from './alarms.ts';
import type { Bus } from './bus.ts';
import { deadLetters } from './lanes.ts';
import { ServiceFunction, type ServiceFunctionProps } from './service-function.ts';

/**
 * Receives of a message before it is dead: with six timeouts between two of them, 20 are an hour for a function of 30 seconds. What has not
 * healed by then is for a person.
 */
const MAX_RECEIVES = 20;
/** AWS's advice for a queue in front of a function. */
const TIMEOUTS_HIDDEN = 6;

export interface BusWorkerProps extends Omit<ServiceFunctionProps, 'environment'> {
  bus: Bus;
  /** What of the bus it takes: `detail-type`, and further conditions on the `detail`. */
  takes: Pick<events.EventPattern, 'detailType' | 'detail'>;
  environment(queue: sqs.Queue): Record<string, string>;
  batchSize: number;
  /** How long a batch is waited for. */
  batchSeconds?: number;
  /** Batches under way at once. */
  maxConcurrency: number;
  /** What somebody notices while its messages are dead. */
  says: string;
}

/**
 * A function that works for the service behind the bus, with a queue of its own, so that it can be late and can fail without anybody else
 * being so. What it cannot do ends in its dead-letter queue, where an alarm finds it; so does what the bus could not deliver to the queue.
 */
export class BusWorker extends Construct {
  readonly fn: ServiceFunction;
  readonly queue: sqs.Queue;
  readonly deadLetters: sqs.Queue;

  constructor(scope: Construct, id: string, props: BusWorkerProps) {
    super(scope, id);
    const { bus, takes, environment, batchSize, batchSeconds, maxConcurrency, says, ...fn } = props;
    this.deadLetters = deadLetters(this, 'DeadLetters');
    acknowledge(this.deadLetters, { SQS3: 'It is a dead-letter queue.' });
    this.queue = new sqs.Queue(this, 'Queue', {
      visibilityTimeout: Duration.seconds(TIMEOUTS_HIDDEN * fn.timeoutSeconds),
      retentionPeriod: Duration.days(14),
      enforceSSL: true,
      deadLetterQueue: { queue: this.deadLetters, maxReceiveCount: MAX_RECEIVES },
    });
    this.fn = new ServiceFunction(this, 'Function', { ...fn, environment: environment(this.queue) });
    this.fn.addEventSource(
      new SqsEventSource(this.queue, {
        batchSize,
        maxConcurrency,
        reportBatchItemFailures: true,
        ...(batchSeconds === undefined ? {} : { maxBatchingWindow: Duration.seconds(batchSeconds) }),
      }),
    );
    new events.Rule(this, 'Rule', {
      eventBus: bus.events,
      eventPattern: { source: [BUS_SOURCE], ...takes },
      targets: [new SqsQueue(this.queue, { deadLetterQueue: this.deadLetters })],
    });
    alarmAt(this, 'Dead', {
      metric: this.deadLetters.metricApproximateNumberOfMessagesVisible({
        statistic: cloudwatch.Stats.MAXIMUM,
        period: Duration.minutes(5),
      }),
      says,
    });
  }
}
