import { Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import * as events from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { DUE_INDEX } from '../../functions/domain/due.ts';
import { RECONCILE_EVERY_SECONDS } from '../../functions/domain/timing.ts';
import type {
  AuditEnvironment,
  DeadFanOutsEnvironment,
  DeadRemindersEnvironment,
  ReconcileEnvironment,
  WatchEnvironment,
} from '../../functions/platform/config.ts';
import {
  ABANDONED_ENTRIES,
  DEAD_LETTERS,
  LEDGER_DIFFERENCE,
  RECONCILED,
  UNREADABLE_MESSAGES,
} from '../../functions/platform/metric-names.ts';
import { alarmAt, counted } from './alarms.ts';
import type { Delivery } from './delivery.ts';
import { feedFromQueue, feedFromStream } from './event-sources.ts';
import { allowMeasure, allowSend, DEAD_LETTERS_SECONDS } from './lanes.ts';
import { type CodeOf, ServiceFunction } from './service-function.ts';
import type { Settings } from './settings.ts';
import type { DataStack } from './stacks/data-stack.ts';

export interface RecoveryProps {
  code: CodeOf;
  data: DataStack;
  delivery: Delivery;
  settings: Settings;
}

/** Events of the deliveries' stream that are counted: additions, and ends. Claims and retries stay out, and cost nothing. */
const ADDED = { eventName: lambda.FilterRule.isEqual('INSERT') };
const ENDED = {
  eventName: lambda.FilterRule.isEqual('MODIFY'),
  dynamodb: { NewImage: { status: { S: lambda.FilterRule.or('succeeded', 'exhausted', 'skipped') } } },
};

/** How far a stream's reader may be behind before somebody is told: 10 minutes. */
const BEHIND_MS = 600_000;
/** Longer than a run needs for the page that it has begun. */
const RUN_SECONDS = 55;

/** Whatever brings back what got lost on the way of an event, and notices that something did. */
export class Recovery extends Construct {
  readonly watch: ServiceFunction;
  readonly reconcile: ServiceFunction;
  readonly audit: ServiceFunction;

  constructor(scope: Construct, id: string, { code, data, delivery, settings }: RecoveryProps) {
    super(scope, id);
    const { tables, deliveryQueues } = data;
    const GRACE_SECONDS = String(settings.graceSeconds);
    const DELIVERIES_TABLE = tables.deliveries.name;
    const LEDGER_TABLE = tables.ledger.name;
    const { retry, fresh, slow } = deliveryQueues.lanes;

    this.watch = new ServiceFunction(this, 'Watch', {
      name: 'watch',
      description: 'Counts deliveries, and puts those that take long into the due index',
      code,
      timeoutSeconds: 60,
      environment: {
        SERVICE_TABLE: tables.service.name,
        DELIVERIES_TABLE,
        LEDGER_TABLE,
        GRACE_SECONDS,
      } satisfies WatchEnvironment,
    });
    tables.service.allow(this.watch, 'read');
    tables.deliveries.allow(this.watch, 'change');
    tables.ledger.allow(this.watch, 'change');
    feedFromStream(this.watch, tables.deliveries, {
      batchSize: 1000,
      // Most deliveries begin and end within one batch, and need no entry in the index.
      maxBatchingWindow: Duration.seconds(settings.watchWindowSeconds),
      // Not for its windows: with one, the function is told which shard it reads.
      tumblingWindow: Duration.minutes(15),
      filters: [lambda.FilterCriteria.filter(ADDED), lambda.FilterCriteria.filter(ENDED)],
    });

    this.reconcile = new ServiceFunction(this, 'Reconcile', {
      name: 'reconcile',
      description: 'Sends reminders of deliveries that are due and have no message',
      code,
      timeoutSeconds: RUN_SECONDS,
      environment: {
        DELIVERIES_TABLE,
        FRESH_QUEUE: fresh.queueUrl,
        RETRY_QUEUE: retry.queueUrl,
        SLOW_QUEUE: slow.queueUrl,
        GRACE_SECONDS,
      } satisfies ReconcileEnvironment,
    });
    tables.deliveries.allow(this.reconcile, 'change');
    tables.deliveries.allowIndex(this.reconcile, DUE_INDEX);
    allowSend(retry, this.reconcile);
    for (const queue of [fresh, retry, slow]) allowMeasure(queue, this.reconcile);
    new events.Rule(this, 'ReconcileSchedule', {
      schedule: events.Schedule.rate(Duration.seconds(RECONCILE_EVERY_SECONDS)),
      targets: [new LambdaFunction(this.reconcile, { retryAttempts: 0 })],
    });

    this.audit = new ServiceFunction(this, 'Audit', {
      name: 'audit',
      description: 'Checks that the ledger of each hour balances',
      code,
      timeoutSeconds: 900,
      environment: {
        SERVICE_TABLE: tables.service.name,
        DELIVERIES_TABLE,
        LEDGER_TABLE,
        GRACE_SECONDS,
      } satisfies AuditEnvironment,
    });
    tables.service.allow(this.audit, 'read');
    tables.deliveries.allow(this.audit, 'list', 'change');
    tables.ledger.allow(this.audit, 'list', 'change');
    new events.Rule(this, 'AuditSchedule', {
      schedule: events.Schedule.rate(Duration.hours(1)),
      targets: [new LambdaFunction(this.audit)],
    });

    const deadReminders = new ServiceFunction(this, 'DeadReminders', {
      name: 'dead-reminders',
      description: 'Leaves deliveries whose messages were given up to the reconciler',
      code,
      timeoutSeconds: DEAD_LETTERS_SECONDS,
      environment: { DELIVERIES_TABLE, GRACE_SECONDS } satisfies DeadRemindersEnvironment,
    });
    tables.deliveries.allow(deadReminders, 'change');
    feedFromQueue(deadReminders, deliveryQueues.deadLetters, { batchSize: 10, maxConcurrency: 2 });

    const deadFanOuts = new ServiceFunction(this, 'DeadFanOuts', {
      name: 'dead-fan-outs',
      description: 'Repeats the fan-out of events that their stream gave up',
      code,
      timeoutSeconds: DEAD_LETTERS_SECONDS,
      environment: {
        SERVICE_TABLE: tables.service.name,
        OUTBOX_TABLE: tables.outbox.name,
        DELIVERIES_TABLE,
        FRESH_QUEUE: fresh.queueUrl,
        SLOW_QUEUE: slow.queueUrl,
        DEAD_FAN_OUTS: deliveryQueues.deadFanOuts.queueUrl,
      } satisfies DeadFanOutsEnvironment,
    });
    tables.service.allow(deadFanOuts, 'read', 'list');
    tables.outbox.allow(deadFanOuts, 'read');
    tables.outbox.allowStreamRead(deadFanOuts);
    tables.deliveries.allow(deadFanOuts, 'add');
    for (const queue of [fresh, slow, deliveryQueues.deadFanOuts]) allowSend(queue, deadFanOuts);
    feedFromQueue(deadFanOuts, deliveryQueues.deadFanOuts, { batchSize: 1, maxConcurrency: 2 });

    this.addAlarms(delivery.fanOut);
  }

  private addAlarms(fanOut: ServiceFunction): void {
    alarmAt(this, 'LedgerDiffers', {
      metric: counted(LEDGER_DIFFERENCE),
      says: 'Deliveries that were owed are not accounted for: the ledger differed from the deliveries and was put right.',
    });
    alarmAt(this, 'DeadLettersArrive', {
      metric: counted(DEAD_LETTERS),
      says: 'Deliveries could not be dealt with for most of an hour; the reconciler tries them again, customers see them late.',
    });
    alarmAt(this, 'DeliveriesExpire', {
      metric: counted(RECONCILED.expired),
      says: 'Deliveries ended as expired: nothing could be done for them in three days.',
    });
    alarmAt(this, 'EntriesAbandoned', {
      metric: counted(ABANDONED_ENTRIES),
      says: 'Entries of the outbox could not be dealt with and were given up: events of customers have no deliveries, or are not metered, mailed and handed on to channels.',
    });
    alarmAt(this, 'MessagesUnreadable', {
      metric: counted(UNREADABLE_MESSAGES),
      says: 'Queue messages of no known form were dropped; their deliveries come back when they are late.',
    });
    alarmAt(this, 'ParkedLate', {
      metric: counted(RECONCILED.latestSeconds).with({ statistic: cloudwatch.Stats.MAXIMUM }),
      threshold: 300,
      says: 'Parked retries are resumed minutes late: the reconciler does not keep up.',
    });
    for (const [fn, says] of [
      [fanOut, 'Events wait for their deliveries; a stream forgets them after a day.'],
      [this.watch, 'Deliveries are counted and watched late; a stream forgets them after a day.'],
    ] as const)
      alarmAt(fn, 'Behind', {
        metric: fn.metric('IteratorAge', {
          statistic: cloudwatch.Stats.MAXIMUM,
          period: Duration.minutes(5),
        }),
        threshold: BEHIND_MS,
        says,
      });
    for (const [fn, says] of [
      [this.watch, 'Deliveries are not counted and not watched; what is lost meanwhile is found late.'],
      [this.reconcile, 'The reconciler fails: parked retries and lost messages do not come back.'],
      [this.audit, 'The ledger is not checked.'],
    ] as const)
      alarmAt(fn, 'Fails', { metric: fn.metricErrors({ period: Duration.minutes(15) }), threshold: 3, says });
  }
}
