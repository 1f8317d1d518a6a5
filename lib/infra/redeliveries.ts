import { Construct } from 'constructs';
import { REDELIVER_TIMEOUT_SECONDS } from '../../functions/delivery/timing.ts';
import type { NoticeType } from '../../functions/events/bus.ts';
import type { RedeliverEnvironment } from '../../functions/workers/redeliver.ts';
import type { ResumeRedeliveryJobsEnvironment } from '../../functions/workers/resume-redelivery-jobs.ts';
import { BusWorker } from './bus-worker.ts';
import type { EnvironmentOf } from './grants/resource.ts';
import { type CodeOf, ServiceFunction } from './service-function.ts';
import type { Settings } from './settings.ts';
import type { DataStack } from './stacks/data-stack.ts';
import { ServiceStack } from './stacks/service-stack.ts';
import { schedule } from './watching.ts';

/** Leaves a run time to finish its current page. */
const RUN_SECONDS = 55;

/** Resends an endpoint's failed deliveries of a period, in any number. */
export class Redeliveries extends Construct {
  readonly worker: BusWorker;
  readonly resumeRedeliveryJobs: ServiceFunction;

  constructor(
    scope: Construct,
    id: string,
    { code, data, settings }: { code: CodeOf; data: DataStack; settings: Settings },
  ) {
    super(scope, id);
    const { tables, bus, deliveryQueues } = data;
    const { policy } = ServiceStack.of(this);
    this.worker = new BusWorker(this, 'Redeliver', {
      name: 'redeliver',
      description: 'Makes the deliveries of redelivery jobs',
      code,
      timeoutSeconds: REDELIVER_TIMEOUT_SECONDS,
      // A message of each round of about 10 seconds: Lambda's limit would end a job after 16.
      loopBound:
        'Each round moves the position of its job forward; the job ends at the end of its time range.',
      bus,
      takes: { detailType: ['webhook.redelivery'] satisfies NoticeType[] },
      environment: (queue) =>
        ({
          SERVICE_TABLE: tables.service,
          DELIVERIES_TABLE: tables.deliveries,
          OUTBOX_TABLE: tables.outbox,
          ...deliveryQueues.jobs,
          REDELIVERIES_QUEUE: queue,
          REDELIVERY_GROUP: String(policy.redeliveryGroup),
        }) satisfies EnvironmentOf<typeof RedeliverEnvironment>,
      // One job each; further jobs take turns.
      batchSize: 1,
      maxConcurrency: 10,
      says: 'Redelivery jobs failed after all retries: deliveries are not resent, and customers can start no other job for the endpoint.',
      late: 'Redelivery jobs get on slowly: the function for them fails.',
    });
    const { queue } = this.worker;

    this.resumeRedeliveryJobs = new ServiceFunction(this, 'ResumeRedeliveryJobs', {
      name: 'resume-redelivery-jobs',
      description: 'Sends the messages of redelivery jobs again that were lost',
      code,
      timeoutSeconds: RUN_SECONDS,
      // The next minute's run replaces a failed one.
      asyncRetries: 0,
      environment: {
        SERVICE_TABLE: tables.service,
        REDELIVERIES_QUEUE: queue,
        GRACE_SECONDS: String(settings.graceSeconds),
      } satisfies EnvironmentOf<typeof ResumeRedeliveryJobsEnvironment>,
    });
    schedule(this.resumeRedeliveryJobs, {
      fails: {
        says: 'Redelivery jobs whose message is lost stand still, because the function that sends it again fails: customers can start no other job for the endpoint.',
        runbook: 'background.md#redelivery-jobs-stand-still',
      },
      silent:
        'Redelivery jobs whose message is lost stand still, because the function that sends it again is not invoked.',
    });
  }
}
