import { Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import * as events from 'aws-cdk-lib/aws-events';
import { Grant } from 'aws-cdk-lib/aws-iam';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import { DynamoEventSource, SqsDlq, SqsEventSource } from 'aws-cdk-lib/aws-lambda-event-sources';
import type * as sqs from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { DeadPublicationsEnvironment, PublishEnvironment } from '../../functions/platform/config.ts';
import { acknowledge } from './acknowledgements.ts';
import { alarmAt } from './alarms.ts';
import { LISTS_STREAMS } from './delivery.ts';
import { allowSend, DEAD_LETTERS_SECONDS, deadLetters } from './lanes.ts';
import { type CodeOf, ServiceFunction } from './service-function.ts';
import type { Tables } from './tables.ts';

/** How far the publisher may be behind before somebody is told: 10 minutes. */
const BEHIND_MS = 600_000;

/** The bus that tells the service's own workers what happened, and the function that puts it there. */
export class Bus extends Construct {
  readonly events: events.EventBus;
  readonly publish: ServiceFunction;
  /** What the publisher's stream gave up. */
  readonly deadPublications: sqs.Queue;

  constructor(scope: Construct, id: string, { code, tables }: { code: CodeOf; tables: Tables }) {
    super(scope, id);
    this.events = new events.EventBus(this, 'Events');
    this.publish = new ServiceFunction(this, 'Publish', {
      name: 'publish',
      description: 'Puts what the outbox tells on the event bus',
      code,
      timeoutSeconds: 30,
      environment: { EVENT_BUS: this.events.eventBusName } satisfies PublishEnvironment,
    });
    this.allowPut(this.publish);
    acknowledge(this.publish.role ?? this.publish, LISTS_STREAMS);
    this.deadPublications = deadLetters(this, 'DeadPublications');
    acknowledge(this.deadPublications, {
      SQS3: 'It is a dead-letter queue: of the stream, whose failed records it takes, which is not a redrive of another queue.',
    });
    this.publish.addEventSource(
      new DynamoEventSource(tables.outbox.table, {
        startingPosition: lambda.StartingPosition.TRIM_HORIZON,
        batchSize: 100,
        filters: [lambda.FilterCriteria.filter({ eventName: lambda.FilterRule.isEqual('INSERT') })],
        reportBatchItemFailures: true,
        bisectBatchOnError: true,
        retryAttempts: 100,
        onFailure: new SqsDlq(this.deadPublications),
      }),
    );
    this.addDeadPublications(code, tables);
    alarmAt(this.publish, 'Behind', {
      metric: this.publish.metric('IteratorAge', {
        statistic: cloudwatch.Stats.MAXIMUM,
        period: Duration.minutes(5),
      }),
      threshold: BEHIND_MS,
      says: 'Metering, e-mail and messages to channels are late; a stream forgets its records after a day.',
    });
  }

  private addDeadPublications(code: CodeOf, tables: Tables): void {
    const fn = new ServiceFunction(this, 'DeadPublicationsReader', {
      name: 'dead-publications',
      description: 'Puts on the event bus what the stream gave up',
      code,
      timeoutSeconds: DEAD_LETTERS_SECONDS,
      environment: {
        EVENT_BUS: this.events.eventBusName,
        OUTBOX_TABLE: tables.outbox.name,
        DEAD_PUBLICATIONS: this.deadPublications.queueUrl,
      } satisfies DeadPublicationsEnvironment,
    });
    this.allowPut(fn);
    tables.outbox.allow(fn, 'read');
    tables.outbox.allowStreamRead(fn);
    allowSend(this.deadPublications, fn);
    fn.addEventSource(
      new SqsEventSource(this.deadPublications, {
        batchSize: 1,
        maxConcurrency: 2,
        reportBatchItemFailures: true,
      }),
    );
  }

  /** `grantPutEventsTo` is for the same; it would also name a statement id. */
  allowPut(fn: ServiceFunction): void {
    Grant.addToPrincipal({
      grantee: fn,
      actions: ['events:PutEvents'],
      resourceArns: [this.events.eventBusArn],
    });
  }
}
