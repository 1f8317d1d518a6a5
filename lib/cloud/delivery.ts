import * as lambda from 'aws-cdk-lib/aws-lambda';
import { DynamoEventSource, SqsDlq, SqsEventSource } from 'aws-cdk-lib/aws-lambda-event-sources';
import type * as sqs from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { LANES } from '../../functions/domain/lanes.ts';
import { attemptClocks } from '../../functions/domain/timing.ts';
import type { DispatchEnvironment, FanOutEnvironment } from '../../functions/platform/config.ts';
import { acknowledge } from './acknowledgements.ts';
import { checkClocks } from './clocks.ts';
import type { KeyringSecret } from './keyrings.ts';
import { allowMeasure, allowSend, DISPATCHERS, deadLetters, Lanes } from './lanes.ts';
import { type CodeOf, ServiceFunction } from './service-function.ts';
import type { Settings } from './settings.ts';
import type { Tables } from './tables.ts';

export interface DeliveryProps {
  code: CodeOf;
  tables: Tables;
  signingKeys: KeyringSecret;
  settings: Settings;
}

/** The way of an event from the outbox to its receivers: stream, fan-out, queues, dispatcher. */
export class Delivery extends Construct {
  readonly fanOut: ServiceFunction;
  readonly dispatch: ServiceFunction;
  readonly lanes: Lanes;
  /** What the fan-out's stream gave up. */
  readonly deadFanOuts: sqs.Queue;

  constructor(scope: Construct, id: string, { code, tables, signingKeys, settings }: DeliveryProps) {
    super(scope, id);
    const clocks = attemptClocks(settings.attemptTimeoutSeconds);
    this.lanes = new Lanes(this, 'Lanes', clocks);
    const { fresh, retry, slow } = this.lanes.queues;

    this.fanOut = new ServiceFunction(this, 'FanOut', {
      name: 'fan-out',
      description: 'Makes the deliveries of each event of the outbox, and hands on redeliveries',
      code,
      timeoutSeconds: 30,
      environment: {
        SERVICE_TABLE: tables.service.name,
        DELIVERIES_TABLE: tables.deliveries.name,
        FRESH_QUEUE: fresh.queueUrl,
        SLOW_QUEUE: slow.queueUrl,
      } satisfies FanOutEnvironment,
    });
    tables.service.allow(this.fanOut, 'read', 'list');
    tables.deliveries.allow(this.fanOut, 'add');
    allowSend(fresh, this.fanOut);
    allowSend(slow, this.fanOut);
    this.deadFanOuts = deadLetters(this, 'DeadFanOuts');
    acknowledge(this.fanOut.role ?? this.fanOut, LISTS_STREAMS);
    acknowledge(this.deadFanOuts, {
      SQS3: 'It is a dead-letter queue: of the stream, whose failed records it takes, which is not a redrive of another queue.',
    });
    this.fanOut.addEventSource(
      new DynamoEventSource(tables.outbox.table, {
        startingPosition: lambda.StartingPosition.TRIM_HORIZON,
        batchSize: 100,
        filters: [lambda.FilterCriteria.filter({ eventName: lambda.FilterRule.isEqual('INSERT') })],
        reportBatchItemFailures: true,
        // One record that fails for good must not hold up its shard for the day that the stream keeps it.
        bisectBatchOnError: true,
        retryAttempts: 100,
        onFailure: new SqsDlq(this.deadFanOuts),
      }),
    );

    this.dispatch = new ServiceFunction(this, 'Dispatch', {
      name: 'dispatch',
      description: 'Sends signed events to their receivers',
      code,
      timeoutSeconds: clocks.functionTimeout,
      environment: {
        SERVICE_TABLE: tables.service.name,
        OUTBOX_TABLE: tables.outbox.name,
        DELIVERIES_TABLE: tables.deliveries.name,
        FRESH_QUEUE: fresh.queueUrl,
        RETRY_QUEUE: retry.queueUrl,
        SLOW_QUEUE: slow.queueUrl,
        SIGNING_KEYS: signingKeys.arn,
        RETRY_BASE_SECONDS: String(settings.retryBaseSeconds),
        RETRY_CAP_SECONDS: String(settings.retryCapSeconds),
        ATTEMPT_TIMEOUT_SECONDS: String(settings.attemptTimeoutSeconds),
        GRACE_SECONDS: String(settings.graceSeconds),
      } satisfies DispatchEnvironment,
    });
    tables.service.allow(this.dispatch, 'readMany', 'change', 'check');
    // The notice of a disabling is added to the outbox with it.
    tables.outbox.allow(this.dispatch, 'readMany', 'add');
    tables.deliveries.allow(this.dispatch, 'read', 'change');
    signingKeys.allowRead(this.dispatch);
    for (const lane of ['retry', 'slow'] as const) {
      allowSend(this.lanes.queues[lane], this.dispatch);
      allowMeasure(this.lanes.queues[lane], this.dispatch);
    }
    for (const lane of LANES)
      this.dispatch.addEventSource(
        new SqsEventSource(this.lanes.queues[lane], {
          batchSize: 10,
          maxConcurrency: DISPATCHERS[lane],
          reportBatchItemFailures: true,
        }),
      );
    checkClocks(this, { dispatch: this.dispatch, queues: Object.values(this.lanes.queues), clocks });
  }
}

/** What the role of a function needs that reads a stream. */
export const LISTS_STREAMS = {
  'IAM5[Resource::*]':
    'dynamodb:ListStreams, which the event source mapping calls, has no resource to be limited to.',
} as const;
