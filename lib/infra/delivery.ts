import * as lambda from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import type { SenderEnvironment } from '../../functions/aws/config.ts';
import { getLaneFacts, LANES } from '../../functions/delivery/lanes.ts';
import { deriveAttemptClocks } from '../../functions/delivery/timing.ts';
import type { DispatchEnvironment } from '../../functions/workers/dispatch.ts';
import type { FanOutEnvironment } from '../../functions/workers/fan-out.ts';
import { checkClocks } from './clocks.ts';
import { receiverEnvironment } from './egress.ts';
import { feedFromQueue, feedFromStream } from './event-sources.ts';
import type { EnvironmentOf } from './grants/resource.ts';
import { STREAM_RETRIES } from './lanes.ts';
import { live, newest } from './release.ts';
import { type CodeOf, ServiceFunction } from './service-function.ts';
import { type Settings, senderEnvironment } from './settings.ts';
import type { DataStack } from './stacks/data-stack.ts';
import { ServiceStack } from './stacks/service-stack.ts';

export interface DeliveryProps {
  code: CodeOf;
  data: DataStack;
  settings: Settings;
}

/** Delivery from the outbox to receivers: stream, fan-out, queues, dispatcher. */
export class Delivery extends Construct {
  readonly fanOut: ServiceFunction;
  readonly dispatch: ServiceFunction;
  readonly live: Readonly<Record<'fanOut' | 'dispatch', lambda.Alias>>;

  constructor(scope: Construct, id: string, { code, data, settings }: DeliveryProps) {
    super(scope, id);
    const clocks = deriveAttemptClocks(settings.attemptTimeoutSeconds);
    const { tables, signingKeys, deliveryQueues } = data;

    this.fanOut = new ServiceFunction(this, 'FanOut', {
      name: 'fan-out',
      description: 'Makes the deliveries of each event of the outbox, and hands on redeliveries',
      code,
      timeoutSeconds: 30,
      reserved: 'fanOut',
      environment: {
        SERVICE_TABLE: tables.service,
        DELIVERIES_TABLE: tables.deliveries,
        ...deliveryQueues.first,
        DEAD_FAN_OUTS: deliveryQueues.deadFanOuts,
      } satisfies EnvironmentOf<typeof FanOutEnvironment>,
    });

    this.dispatch = new ServiceFunction(this, 'Dispatch', {
      name: 'dispatch',
      description: 'Sends signed events to their receivers',
      code,
      timeoutSeconds: clocks.functionTimeout,
      // It mostly waits for receivers, which is billed by memory.
      memoryMiB: 256,
      reachesCustomers: true,
      reserved: 'dispatch',
      // It moves a delivery's message between its queues at most once per attempt, and replaces it while
      // the delivery waits for its turn at an endpoint with a limit.
      loopBound: 'A delivery ends after 8 started attempts or 3 days.',
      environment: {
        SERVICE_TABLE: tables.service,
        OUTBOX_TABLE: tables.outbox,
        DELIVERIES_TABLE: tables.deliveries,
        RATE_TABLE: tables.rates,
        ...deliveryQueues.all,
        SIGNING_KEYS: signingKeys,
        RETRY_BASE_SECONDS: String(settings.retryBaseSeconds),
        RETRY_CAP_SECONDS: String(settings.retryCapSeconds),
        ATTEMPT_TIMEOUT_SECONDS: String(settings.attemptTimeoutSeconds),
        GRACE_SECONDS: String(settings.graceSeconds),
        ...senderEnvironment(settings),
        ...receiverEnvironment(settings),
      } satisfies EnvironmentOf<typeof DispatchEnvironment> & EnvironmentOf<typeof SenderEnvironment>,
    });
    this.live = { fanOut: live(this.fanOut), dispatch: live(this.dispatch) };
    this.readOutbox(data);
    checkClocks(this, { dispatch: this.dispatch, lanes: this.readLanes(data), clocks });
  }

  private readOutbox({ tables, deliveryQueues: { deadFanOuts } }: DataStack): void {
    const source = {
      batchSize: 100,
      filters: [lambda.FilterCriteria.filter({ eventName: lambda.FilterRule.isEqual('INSERT') })],
      reportBatchItemFailures: true,
      // A batch that always fails must not block its shard for the day that the stream keeps it.
      bisectBatchOnError: true,
      retryAttempts: STREAM_RETRIES,
      onFailure: deadFanOuts,
    };
    feedFromStream(this.fanOut, tables.outbox, source, this.live.fanOut);
  }

  private readLanes({ deliveryQueues: { lanes } }: DataStack) {
    const { dispatchers, windowSeconds } = ServiceStack.of(this).policy;
    const { dispatch } = this;
    const newestDispatch = LANES.some((lane) => getLaneFacts(lane).isNew) ? newest(dispatch) : undefined;
    return LANES.map((lane) => {
      const queue = lanes[lane];
      const source = {
        batchSize: 10,
        maxConcurrency: dispatchers[lane],
        ...(windowSeconds[lane] > 0 && { batchSeconds: windowSeconds[lane] }),
      };
      const invoked = (getLaneFacts(lane).isNew && newestDispatch) || this.live.dispatch;
      return { queue, mapping: feedFromQueue(dispatch, queue, source, invoked) };
    });
  }
}
