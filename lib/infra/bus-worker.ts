import type * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import * as events from 'aws-cdk-lib/aws-events';
import { Construct } from 'constructs';
import { type BusWorkerName, LEFT_IN_QUEUE } from '../../functions/aws/metrics.ts';
import { BUS_SOURCE } from '../../functions/events/bus.ts';
import { counted } from './alarms.ts';
import type { BusQueues, WorkerQueues } from './bus.ts';
import { feedFromQueue } from './event-sources.ts';
import type { ServiceQueue } from './lanes.ts';
import { ServiceFunction, type ServiceFunctionProps } from './service-function.ts';
import { watchDeadLetters, watchLeftMessages } from './watching.ts';

export interface BusWorkerProps extends Omit<ServiceFunctionProps, 'name' | 'environment'> {
  name: BusWorkerName;
  bus: BusQueues;
  /** Events that it takes: `detail-type`, and conditions on the `detail`. */
  takes: Pick<events.EventPattern, 'detailType' | 'detail'>;
  environment(queue: ServiceQueue): ServiceFunctionProps['environment'];
  batchSize: number;
  /** Batching window. */
  batchSeconds?: number;
  /** Concurrent batches. */
  maxConcurrency: number;
  /** Symptom while there are dead letters. */
  says: string;
  /** Symptom while it fails, before there are dead letters. */
  late: string;
}

/**
 * A worker behind the bus with its own queue, so that its delays and failures affect no other worker. What it
 * cannot process, and what the bus could not deliver to the queue, ends in its dead-letter queue, which has
 * an alarm.
 */
export class BusWorker extends Construct {
  readonly fn: ServiceFunction;
  readonly queue: ServiceQueue;
  readonly deadLetters: ServiceQueue;
  readonly deadLettersAlarm: cloudwatch.Alarm | undefined;

  constructor(scope: Construct, id: string, props: BusWorkerProps) {
    super(scope, id);
    const { bus, takes, environment, batchSize, batchSeconds, maxConcurrency, says, late, ...fn } = props;
    const { queue, deadLetters } = bus.queuesOf(id, fn.timeoutSeconds);
    this.queue = queue;
    this.deadLetters = deadLetters;
    this.fn = new ServiceFunction(this, 'Function', { ...fn, environment: environment(queue) });
    this.deadLettersAlarm = this.take({ queue, deadLetters }, 'Rule', 'Dead', {
      bus,
      takes,
      batchSize,
      maxConcurrency,
      says,
      ...(batchSeconds === undefined ? {} : { batchSeconds }),
    });
    watchLeftMessages(this.fn, {
      left: counted(this, LEFT_IN_QUEUE[fn.name]),
      says: late,
      runbook: 'background.md#a-background-worker-fails',
    });
  }

  /**
   * Takes other events from a separate queue, so that they do not wait behind the first queue's.
   * @returns that queue
   */
  takeApart(
    id: string,
    props: Pick<BusWorkerProps, 'bus' | 'takes' | 'batchSize' | 'maxConcurrency' | 'says' | 'timeoutSeconds'>,
  ): ServiceQueue {
    const queues = props.bus.queuesOf(id, props.timeoutSeconds);
    this.take(queues, `${id}Rule`, `${id}Dead`, props);
    return queues.queue;
  }

  private take(
    { queue, deadLetters }: WorkerQueues,
    ruleId: string,
    deadId: string,
    {
      bus,
      takes,
      says,
      ...source
    }: Pick<BusWorkerProps, 'bus' | 'takes' | 'batchSize' | 'maxConcurrency' | 'batchSeconds' | 'says'>,
  ): cloudwatch.Alarm | undefined {
    feedFromQueue(this.fn, queue, source);
    new events.Rule(this, ruleId, {
      eventBus: bus.events,
      eventPattern: { source: [BUS_SOURCE], ...takes },
      targets: [into({ queue, deadLetters })],
    });
    return watchDeadLetters(this, deadId, deadLetters, {
      says,
      runbook: 'dead-letters.md#of-a-worker-behind-the-bus',
    });
  }
}

/**
 * The CDK's own target would add each rule to the queue's policy, which already allows all rules of the bus.
 * The organization is the message group, as in messages of workers (delivery/queues.ts).
 */
const into = ({ queue, deadLetters }: WorkerQueues): events.IRuleTarget => ({
  bind: () => ({
    arn: queue.queueArn,
    deadLetterConfig: { arn: deadLetters.queueArn },
    sqsParameters: { messageGroupId: '$.detail.orgId' },
  }),
});
