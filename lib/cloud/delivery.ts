import { Duration } from 'aws-cdk-lib';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import { DynamoEventSource, SqsDlq, SqsEventSource } from 'aws-cdk-lib/aws-lambda-event-sources';
import * as sqs from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { attemptClocks } from '../../functions/domain/timing.ts';
import type { DispatchEnvironment, FanOutEnvironment } from '../../functions/platform/config.ts';
import { acknowledge } from './acknowledgements.ts';
import type { KeyringSecret } from './keyrings.ts';
import { type CodeOf, ServiceFunction } from './service-function.ts';
import type { Settings } from './settings.ts';
import type { Tables } from './tables.ts';

export interface DeliveryProps {
  code: CodeOf;
  tables: Tables;
  signingKeys: KeyringSecret;
  settings: Settings;
}

/**
 * Receives of one message before the queue gives it up. A delivery needs at most 8, and one more for each time that the
 * dispatcher could not work, 30 s apart: this is some 50 minutes of a dependency's outage.
 */
const MAX_RECEIVES = 100;
/** Batches under way at once; each holds ten attempts. */
const DISPATCHERS = 50;

/** The way of an event from the outbox to its receivers: stream, fan-out, queue, dispatcher. */
export class Delivery extends Construct {
  readonly fanOut: ServiceFunction;
  readonly dispatch: ServiceFunction;

  constructor(scope: Construct, id: string, { code, tables, signingKeys, settings }: DeliveryProps) {
    super(scope, id);
    const clocks = attemptClocks(settings.attemptTimeoutSeconds);
    const queue = new sqs.Queue(this, 'Queue', {
      visibilityTimeout: Duration.seconds(clocks.visibility),
      retentionPeriod: Duration.days(14),
      enforceSSL: true,
      deadLetterQueue: { queue: deadLetters(this, 'QueueDeadLetters'), maxReceiveCount: MAX_RECEIVES },
    });

    this.fanOut = new ServiceFunction(this, 'FanOut', {
      name: 'fan-out',
      description: 'Makes the deliveries of each event of the outbox, and hands on redeliveries',
      code,
      timeoutSeconds: 30,
      environment: {
        SERVICE_TABLE: tables.service.name,
        DELIVERIES_TABLE: tables.deliveries.name,
        DELIVERY_QUEUE: queue.queueUrl,
      } satisfies FanOutEnvironment,
    });
    tables.service.allow(this.fanOut, 'list');
    tables.deliveries.allow(this.fanOut, 'add');
    allowSend(queue, this.fanOut);
    const streamDeadLetters = deadLetters(this, 'StreamDeadLetters');
    acknowledge(this.fanOut.role ?? this.fanOut, {
      'IAM5[Resource::*]':
        'dynamodb:ListStreams, which the event source mapping calls, has no resource to be limited to.',
    });
    acknowledge(streamDeadLetters, {
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
        onFailure: new SqsDlq(streamDeadLetters),
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
        DELIVERY_QUEUE: queue.queueUrl,
        SIGNING_KEYS: signingKeys.arn,
        RETRY_BASE_SECONDS: String(settings.retryBaseSeconds),
        RETRY_CAP_SECONDS: String(settings.retryCapSeconds),
        ATTEMPT_TIMEOUT_SECONDS: String(settings.attemptTimeoutSeconds),
      } satisfies DispatchEnvironment,
    });
    tables.service.allow(this.dispatch, 'readMany', 'change');
    tables.outbox.allow(this.dispatch, 'readMany');
    tables.deliveries.allow(this.dispatch, 'read', 'change');
    signingKeys.allowRead(this.dispatch);
    this.dispatch.addEventSource(
      new SqsEventSource(queue, {
        batchSize: 10,
        maxConcurrency: DISPATCHERS,
        reportBatchItemFailures: true,
      }),
    );
  }
}

/** Holds what failed for good, for as long as SQS can. */
const deadLetters = (scope: Construct, id: string): sqs.Queue =>
  new sqs.Queue(scope, id, { retentionPeriod: Duration.days(14), enforceSSL: true });

/** `grantSendMessages` would add GetQueueUrl and GetQueueAttributes, which nothing calls. */
const allowSend = (queue: sqs.Queue, fn: ServiceFunction): void => {
  queue.grant(fn, 'sqs:SendMessage');
};
