import { Duration } from 'aws-cdk-lib';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import type * as sqs from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { ENDED } from '../../functions/aws/metrics.ts';
import type { AuditLedgerEnvironment } from '../../functions/workers/audit-ledger.ts';
import type { DeadDeliveryMessagesEnvironment } from '../../functions/workers/dead-delivery-messages.ts';
import type { DeadFanOutsEnvironment } from '../../functions/workers/dead-fan-outs.ts';
import type { DeliveryStreamEnvironment } from '../../functions/workers/delivery-stream.ts';
import type { ReconcileEnvironment } from '../../functions/workers/reconcile.ts';
import type { Delivery } from './delivery.ts';
import { watchEngine } from './engine-alarms.ts';
import { feedFromQueue, feedFromStream } from './event-sources.ts';
import type { EnvironmentOf } from './grants/resource.ts';
import { DEAD_ENTRIES_BOUND, DEAD_ENTRIES_SOURCE, DEAD_LETTERS_SECONDS } from './lanes.ts';
import { releaseGradually } from './release.ts';
import { type CodeOf, ServiceFunction } from './service-function.ts';
import type { Settings } from './settings.ts';
import type { DataStack } from './stacks/data-stack.ts';
import { schedule, watchBehind, watchFailureRate, watchFailures, watchRetried } from './watching.ts';

export interface RecoveryProps {
  code: CodeOf;
  data: DataStack;
  delivery: Delivery;
  settings: Settings;
}

/** Counted stream events: additions and ends. Claims and retries are filtered out, at no cost. */
const ADDED = { eventName: lambda.FilterRule.isEqual('INSERT') };
const HAS_ENDED = {
  eventName: lambda.FilterRule.isEqual('MODIFY'),
  dynamodb: { NewImage: { status: { S: lambda.FilterRule.or(...Object.keys(ENDED)) } } },
};

/** Leaves a run time to finish its current page. */
const RUN_SECONDS = 55;

/** Restores lost delivery messages and index entries, and reports them. */
export class Recovery extends Construct {
  readonly deliveryStream: ServiceFunction;
  readonly reconcile: ServiceFunction;
  readonly auditLedger: ServiceFunction;

  constructor(scope: Construct, id: string, { code, data, delivery, settings }: RecoveryProps) {
    super(scope, id);
    const { tables, deliveryQueues } = data;
    const GRACE_SECONDS = String(settings.graceSeconds);
    const DELIVERIES_TABLE = tables.deliveries;
    const LEDGER_TABLE = tables.ledger;

    this.deliveryStream = new ServiceFunction(this, 'DeliveryStream', {
      name: 'delivery-stream',
      description: 'Counts deliveries, and puts those that take long into the due index',
      code,
      timeoutSeconds: 60,
      reserved: 'deliveryStream',
      environment: {
        SERVICE_TABLE: tables.service,
        DELIVERIES_TABLE,
        LEDGER_TABLE,
        GRACE_SECONDS,
      } satisfies EnvironmentOf<typeof DeliveryStreamEnvironment>,
    });
    feedFromStream(this.deliveryStream, tables.deliveries, {
      // Most deliveries begin and end within one batch and need no index entry, which costs three write
      // units. So a batch ends with its window rather than its size; Lambda also ends it at 6 MB, about as
      // many records.
      batchSize: 5000,
      maxBatchingWindow: Duration.seconds(settings.watchWindowSeconds),
      // Only a window makes Lambda send the shard's id to the function.
      tumblingWindow: Duration.minutes(15),
      filters: [lambda.FilterCriteria.filter(ADDED), lambda.FilterCriteria.filter(HAS_ENDED)],
    });

    this.reconcile = new ServiceFunction(this, 'Reconcile', {
      name: 'reconcile',
      description: 'Sends delivery messages for due deliveries that have none',
      code,
      timeoutSeconds: RUN_SECONDS,
      // The next minute's run replaces a failed one.
      asyncRetries: 0,
      environment: {
        DELIVERIES_TABLE,
        ...deliveryQueues.all,
        GRACE_SECONDS,
      } satisfies EnvironmentOf<typeof ReconcileEnvironment>,
    });
    schedule(this.reconcile, {
      fails: {
        says: 'The reconciler fails: parked retries and lost messages do not come back.',
        runbook: 'backlog.md#the-reconciler-fails',
      },
      silent: 'The reconciler is not invoked: parked retries and lost messages do not come back.',
    });

    this.auditLedger = new ServiceFunction(this, 'AuditLedger', {
      name: 'audit-ledger',
      description: 'Checks that the ledger of each hour balances',
      code,
      timeoutSeconds: 900,
      // It runs hourly: without a retry, a failure would be noticed an hour later.
      asyncRetries: 2,
      environment: {
        SERVICE_TABLE: tables.service,
        DELIVERIES_TABLE,
        LEDGER_TABLE,
        GRACE_SECONDS,
      } satisfies EnvironmentOf<typeof AuditLedgerEnvironment>,
    });
    schedule(this.auditLedger, {
      every: Duration.hours(1),
      fails: {
        says: 'The ledger is not checked: the audit fails.',
        runbook: 'ledger.md#the-ledger-is-not-checked',
      },
      silent: 'The ledger is not checked: the audit is not invoked.',
    });

    const deadDeliveryMessages = new ServiceFunction(this, 'DeadDeliveryMessages', {
      name: 'dead-delivery-messages',
      description: 'Leaves deliveries whose messages were given up to the reconciler',
      code,
      timeoutSeconds: DEAD_LETTERS_SECONDS,
      environment: {
        DELIVERIES_TABLE,
        GRACE_SECONDS,
      } satisfies EnvironmentOf<typeof DeadDeliveryMessagesEnvironment>,
    });
    feedFromQueue(deadDeliveryMessages, deliveryQueues.deadLetters, { batchSize: 10, maxConcurrency: 2 });

    const deadFanOuts = new ServiceFunction(this, 'DeadFanOuts', {
      name: 'dead-fan-outs',
      description: 'Repeats the fan-out of events that failed',
      code,
      timeoutSeconds: DEAD_LETTERS_SECONDS,
      loopBound: DEAD_ENTRIES_BOUND,
      environment: {
        SERVICE_TABLE: tables.service,
        OUTBOX_TABLE: tables.outbox,
        DELIVERIES_TABLE,
        ...deliveryQueues.first,
        DEAD_FAN_OUTS: deliveryQueues.deadFanOuts,
      } satisfies EnvironmentOf<typeof DeadFanOutsEnvironment>,
      fromEvent: tables.outbox.stream,
    });
    feedFromQueue(deadFanOuts, deliveryQueues.deadFanOuts, DEAD_ENTRIES_SOURCE);

    for (const reader of [deadDeliveryMessages, deadFanOuts])
      watchFailures(reader, {
        says: 'Dead letters of the delivery engine are not processed: customers see their deliveries very late.',
        runbook: 'backlog.md#a-worker-fails',
      });
    this.addAlarms(delivery, deliveryQueues.deadFanOuts);
  }

  private addAlarms({ fanOut, dispatch, live }: Delivery, deadFanOuts: sqs.IQueue): void {
    const { late, deadLetters } = watchEngine(this);
    const fanOutsDie = watchRetried(this, 'FanOutsFailAgain', deadFanOuts, {
      says: 'The fan-out of events has failed for a quarter of an hour: a function of its own repeats it, meanwhile they have no deliveries.',
      runbook: 'dead-letters.md#of-a-stream',
    });
    const fanOutBehind = watchBehind(fanOut, {
      seconds: 60,
      minutes: 3,
      says: 'Events wait for their deliveries; a stream forgets them after a day.',
      runbook: 'backlog.md#events-wait-for-their-deliveries',
    });
    const fanOutFails = watchFailureRate(fanOut, {
      says: 'The fan-out fails: events wait for their deliveries.',
      runbook: 'backlog.md#a-worker-fails',
    });
    const dispatchFails = watchFailureRate(dispatch, {
      says: 'The dispatcher fails: receivers get events late.',
      runbook: 'backlog.md#a-worker-fails',
    });
    releaseGradually(live.fanOut, [fanOutFails, fanOutBehind, fanOutsDie, ...late]);
    releaseGradually(live.dispatch, [dispatchFails, deadLetters, ...late]);

    watchBehind(this.deliveryStream, {
      seconds: 600,
      minutes: 3,
      says: 'Deliveries are counted and watched late; a stream forgets them after a day.',
      runbook: 'backlog.md#deliveries-are-watched-late',
    });
    watchFailures(this.deliveryStream, {
      says: 'Deliveries are not counted and not watched; what is lost meanwhile is found late.',
      runbook: 'backlog.md#deliveries-are-watched-late',
    });
  }
}
