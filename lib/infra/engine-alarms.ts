import { Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type { Construct } from 'constructs';
import {
  ABANDONED_ENTRIES,
  BACKLOG_AGE,
  DEAD_LETTERS,
  DELIVERED,
  IN_FLIGHT,
  LEDGER_DIFFERENCE,
  RECONCILED,
  THROTTLES,
  UNREADABLE_MESSAGES,
  UNREADABLE_ROWS,
} from '../../functions/aws/metrics.ts';
import { alarmAt, counted } from './alarms.ts';

/** Milliseconds; idle, an attempt starts about 20 ms after the commit. */
const LATE_MS = 10_000;
/** Seconds; longer than a message of a full queue waits for its reader. */
const BACKLOG_SECONDS = 300;
/** Percent. From 50 on the engine parks waits, which keeps the level there; SQS rejects messages at 100. */
const NEARLY_FULL = 80;
/** In five minutes; the SDK's retries hardly compensate for so many. */
const MANY_THROTTLES = 1000;
/** Acceptable lateness of parked retries in seconds. */
const PARKED_LATE_SECONDS = 300;

/** Alarms that indicate a regression in new code. */
export interface EngineAlarms {
  late: (cloudwatch.IAlarm | undefined)[];
  deadLetters: cloudwatch.IAlarm | undefined;
}

/** Alarms on the delivery engine's own metrics. */
export function watchEngine(scope: Construct): EngineAlarms {
  const minute = Duration.minutes(1);
  const firstAttemptsLate = alarmAt(scope, 'FirstAttemptsLate', {
    metric: counted(scope, DELIVERED.attemptLatency).with({
      statistic: cloudwatch.Stats.p(99),
      period: minute,
    }),
    threshold: LATE_MS,
    periods: 3,
    says: 'Receivers get events late: one in a hundred waits ten seconds or more for its first attempt.',
    runbook: 'backlog.md#deliveries-are-late',
  });
  // The median: the slowest percent are receivers that needed retries, which says nothing about the service.
  const receiptsLate = alarmAt(scope, 'ReceiptsLate', {
    metric: counted(scope, DELIVERED.receiptLatency).with({
      statistic: cloudwatch.Stats.p(50),
      period: minute,
    }),
    threshold: LATE_MS,
    periods: 3,
    says: 'Half of all deliveries take ten seconds or more from the commit of their event to the receipt.',
    runbook: 'backlog.md#deliveries-are-late',
  });
  alarmAt(scope, 'BacklogOld', {
    metric: counted(scope, BACKLOG_AGE).with({ statistic: cloudwatch.Stats.MAXIMUM, period: minute }),
    threshold: BACKLOG_SECONDS,
    periods: 5,
    says: 'Deliveries that are due have waited for five minutes: receivers get events late.',
    runbook: 'backlog.md#deliveries-are-late',
  });
  alarmAt(scope, 'QueueNearlyFull', {
    metric: counted(scope, IN_FLIGHT).with({ statistic: cloudwatch.Stats.MAXIMUM, period: minute }),
    threshold: NEARLY_FULL,
    periods: 3,
    says: 'A delivery queue has nearly as many messages in flight as SQS takes: retries stop, and deliveries get late, when it is full.',
    runbook: 'backlog.md#in-flight-messages-near-their-limit',
  });
  alarmAt(scope, 'Throttled', {
    metric: counted(scope, THROTTLES),
    threshold: MANY_THROTTLES,
    says: 'AWS throttles what the service calls: API calls and deliveries are slow, and fail where that goes on.',
    runbook: 'limits.md#calls-are-throttled',
  });
  alarmAt(scope, 'FunctionsThrottled', {
    metric: new cloudwatch.Metric({
      namespace: 'AWS/Lambda',
      metricName: 'Throttles',
      statistic: cloudwatch.Stats.SUM,
      period: Duration.minutes(5),
    }),
    threshold: MANY_THROTTLES,
    says: 'Lambda has no room for the functions of this account: API calls are answered with 5xx, or deliveries are late.',
    runbook: 'limits.md#calls-are-throttled',
  });
  return { late: [firstAttemptsLate, receiptsLate], deadLetters: watchLosses(scope) };
}

/** Alarms on lost messages, recovered or not. */
function watchLosses(scope: Construct): cloudwatch.IAlarm | undefined {
  alarmAt(scope, 'LedgerDiffers', {
    metric: counted(scope, LEDGER_DIFFERENCE),
    says: 'Pending deliveries and their ledger differed; the ledger was corrected.',
    runbook: 'ledger.md#deliveries-are-not-accounted-for',
  });
  alarmAt(scope, 'DeliveriesExpire', {
    metric: counted(scope, RECONCILED.expired),
    says: 'Deliveries ended as expired: nothing could be done for them in three days.',
    runbook: 'dead-letters.md#deliveries-expire',
  });
  alarmAt(scope, 'EntriesAbandoned', {
    metric: counted(scope, ABANDONED_ENTRIES),
    says: 'Outbox entries could not be processed and are dead letters: events of customers have no deliveries, are not metered, or send no e-mail.',
    runbook: 'dead-letters.md#entries-of-the-outbox-are-abandoned',
  });
  alarmAt(scope, 'MessagesUnreadable', {
    metric: counted(scope, UNREADABLE_MESSAGES),
    says: 'Queue messages of no known form were dropped; their deliveries come back when they are late.',
    runbook: 'dead-letters.md#messages-of-no-known-form',
  });
  alarmAt(scope, 'RowsUnreadable', {
    metric: counted(scope, UNREADABLE_ROWS),
    says: 'Stored rows could not be read and were left out: their customers miss them in lists, or an endpoint gets no deliveries.',
    runbook: 'dead-letters.md#stored-rows-cannot-be-read',
  });
  alarmAt(scope, 'ParkedLate', {
    metric: counted(scope, RECONCILED.latestSeconds).with({ statistic: cloudwatch.Stats.MAXIMUM }),
    threshold: PARKED_LATE_SECONDS,
    says: 'Parked retries are resumed minutes late: the reconciler does not keep up.',
    runbook: 'backlog.md#parked-retries-are-late',
  });
  return alarmAt(scope, 'DeadLettersArrive', {
    metric: counted(scope, DEAD_LETTERS),
    says: 'Deliveries could not be processed for most of an hour; the reconciler tries them again, customers see them late.',
    runbook: 'dead-letters.md#of-the-delivery-queues',
  });
}
