import { Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { Construct } from 'constructs';
import { SWEPT } from '../../functions/aws/metrics.ts';
import { CHECK_TIMEOUT_SECONDS, EXTRACT_TIMEOUT_SECONDS } from '../../functions/delivery/timing.ts';
import type { NoticeType } from '../../functions/events/bus.ts';
import type { CheckSourceEnvironment } from '../../functions/workers/check-source.ts';
import type { ExtractContentEnvironment } from '../../functions/workers/extract-content.ts';
import type { ScheduleSourceChecksEnvironment } from '../../functions/workers/schedule-source-checks.ts';
import { alarmAt, counted } from './alarms.ts';
import type { BusQueues } from './bus.ts';
import { BusWorker } from './bus-worker.ts';
import { receiverEnvironment } from './egress.ts';
import type { EnvironmentOf } from './grants/resource.ts';
import { type CodeOf, ServiceFunction } from './service-function.ts';
import { CHECK_WORKERS, type Settings, senderEnvironment } from './settings.ts';
import type { Tables } from './tables.ts';
import { schedule } from './watching.ts';

/** Leaves a run time to finish its current page. */
const RUN_SECONDS = 55;
/** A source that is due for 15 minutes is one that the runs do not reach. */
const LATE_SECONDS = 900;
/** Half an hour of waiting is too long for hourly checks. */
const WAITING_SECONDS = 1800;

/** Updates knowledge sources: a schedule finds due ones, a function checks them. */
export class Knowledge extends Construct {
  readonly scheduleSourceChecks: ServiceFunction;
  readonly checks: BusWorker;

  constructor(
    scope: Construct,
    id: string,
    {
      code,
      tables,
      bus,
      settings,
    }: {
      code: CodeOf;
      tables: Tables;
      bus: BusQueues;
      settings: Settings;
    },
  ) {
    super(scope, id);
    const { service, outbox, knowledge } = tables;
    // Its time-outs and memory errors are those of contents; a failure to start is one of the checks.
    const extract = new ServiceFunction(this, 'ExtractContent', {
      name: 'extract-content',
      description: 'Fetches a source of knowledge and extracts its text, without access to data',
      code,
      timeoutSeconds: EXTRACT_TIMEOUT_SECONDS,
      // For one content with its parsed form; processor time is in proportion.
      memoryMiB: 1024,
      reachesCustomers: true,
      environment: {
        ...senderEnvironment(settings),
        ...receiverEnvironment(settings),
      } satisfies EnvironmentOf<typeof ExtractContentEnvironment>,
    });
    this.checks = new BusWorker(this, 'CheckSource', {
      name: 'check-source',
      description: 'Compares sources of knowledge with what was imported',
      code,
      bus,
      takes: { detailType: ['source.check', 'source.deleted'] satisfies NoticeType[] },
      timeoutSeconds: CHECK_TIMEOUT_SECONDS,
      batchSize: 5,
      maxConcurrency: CHECK_WORKERS,
      environment: (queue) =>
        ({
          SERVICE_TABLE: service,
          OUTBOX_TABLE: outbox,
          KNOWLEDGE_TABLE: knowledge,
          CHECK_EVERY_SECONDS: String(settings.checkEverySeconds),
          CHECKS_PER_ORGANIZATION: String(settings.checksPerOrganization),
          CHECKS_QUEUE: queue,
          EXTRACT_FUNCTION: {
            environmentValue: extract.functionName,
            arnsOf: () => [extract.functionArn],
          },
        }) satisfies EnvironmentOf<typeof CheckSourceEnvironment>,
      says: 'Knowledge sources could not be checked for two hours: customers see old content and get no e-mail about changes.',
      late: 'Sources of knowledge are checked late: the function for it fails.',
    });

    this.scheduleSourceChecks = new ServiceFunction(this, 'ScheduleSourceChecks', {
      name: 'schedule-source-checks',
      description: 'Sends messages for the sources of knowledge that are due',
      code,
      timeoutSeconds: RUN_SECONDS,
      // The next minute's run replaces a failed one.
      asyncRetries: 0,
      environment: {
        KNOWLEDGE_TABLE: knowledge,
        CHECKS_QUEUE: this.checks.queue,
      } satisfies EnvironmentOf<typeof ScheduleSourceChecksEnvironment>,
    });
    schedule(this.scheduleSourceChecks, {
      fails: {
        says: 'The schedule of source checks fails: knowledge sources are checked only when a user asks for it.',
        runbook: 'background.md#sources-come-up-late',
      },
      silent:
        'The schedule of source checks does not run: knowledge sources are checked only when a user asks for it.',
    });
    this.addAlarms();
  }

  private addAlarms(): void {
    alarmAt(this, 'SourcesLate', {
      metric: counted(this, SWEPT.latestSeconds).with({ statistic: cloudwatch.Stats.MAXIMUM }),
      threshold: LATE_SECONDS,
      runbook: 'background.md#sources-come-up-late',
      says: 'Sources of knowledge come up for their check a quarter of an hour late: the sweep does not keep up.',
    });
    alarmAt(this, 'ChecksWait', {
      metric: this.checks.queue.metricApproximateAgeOfOldestMessage({
        statistic: cloudwatch.Stats.MAXIMUM,
        period: Duration.minutes(5),
      }),
      threshold: WAITING_SECONDS,
      runbook: 'background.md#checks-of-sources-wait',
      says: 'Checks of sources wait for half an hour: customers see new sources as pending, and old content.',
    });
  }
}
