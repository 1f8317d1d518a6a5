import * as events from 'aws-cdk-lib/aws-events';
import { Construct } from 'constructs';
import { BUS_SOURCE } from '../../functions/domain/bus.ts';
import { type BusWorkerName, LEFT_IN_QUEUE } from '../../functions/platform/metric-names.ts';
import { counted } from './alarms.ts';
import type { BusQueues, WorkerQueues } from './bus.ts';
import { feedFromQueue } from './event-sources.ts';
import type { ServiceQueue } from './lanes.ts';
import { ServiceFunction, type ServiceFunctionProps } from './service-function.ts';
import { watchDeadLetters, watchLeftMessages } from './watching.ts';

export interface BusWorkerProps extends Omit<ServiceFunctionProps, 'name' | 'environment'> {
  name: BusWorkerName;
  bus: BusQueues;
  /** What of the bus it takes: `detail-type`, and further conditions on the `detail`. */
  takes: Pick<events.EventPattern, 'detailType' | 'detail'>;
  environment(queue: ServiceQueue): ServiceFunctionProps['environment'];
  batchSize: number;
  /** How long a batch is waited for. */
  batchSeconds?: number;
  /** Batches in progress at once. */
  maxConcurrency: number;
  /** What operators or customers notice while there are dead letters. */
  says: string;
  /** And while it fails, before they are. */
  late: string;
}

/**
 * A worker behind the bus with a queue of its own, so that its delays and failures affect no other worker.
 * What it cannot process, and what the bus could not deliver to the queue, ends in its dead-letter queue,
 * which has an alarm.
 */
export class BusWorker extends Construct {
  readonly fn: ServiceFunction;
  readonly queue: ServiceQueue;
  readonly deadLetters: ServiceQueue;

  constructor(scope: Construct, id: string, props: BusWorkerProps) {
    super(scope, id);
    const { bus, takes, environment, batchSize, batchSeconds, maxConcurrency, says, late, ...fn } = props;
    const { queue, deadLetters } = bus.queuesOf(id, fn.timeoutSeconds);
    this.queue = queue;
    this.deadLetters = deadLetters;
    this.fn = new ServiceFunction(this, 'Function', { ...fn, environment: environment(queue) });
    this.take({ queue, deadLetters }, 'Rule', 'Dead', {
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
   * Takes other events as well, from a queue of their own, so that they do not wait behind those of the
   * first.
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
  ): void {
    feedFromQueue(this.fn, queue, source);
    new events.Rule(this, ruleId, {
      eventBus: bus.events,
      eventPattern: { source: [BUS_SOURCE], ...takes },
      targets: [into({ queue, deadLetters })],
    });
    watchDeadLetters(this, deadId, deadLetters, {
      says,
      runbook: 'dead-letters.md#of-a-worker-behind-the-bus',
    });
  }
}

/**
 * The CDK's own target would write into the queue's policy which rule fills it; the policy says it of all
 * rules of the bus. Messages are in the group of their organization, as those are that workers send
 * (platform/queues.ts).
 */
const into = ({ queue, deadLetters }: WorkerQueues): events.IRuleTarget => ({
  bind: () => ({
    arn: queue.queueArn,
    deadLetterConfig: { arn: deadLetters.queueArn },
    sqsParameters: { messageGroupId: '$.detail.orgId' },
  }),
});
