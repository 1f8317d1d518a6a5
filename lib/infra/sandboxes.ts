import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { Construct } from 'constructs';
import { PURGED } from '../../functions/aws/metrics.ts';
import type { PurgeEnvironment } from '../../functions/workers/purge.ts';
import { alarmAt, counted } from './alarms.ts';
import type { EnvironmentOf } from './grants/resource.ts';
import { type CodeOf, ServiceFunction } from './service-function.ts';
import type { Settings } from './settings.ts';
import type { Tables } from './tables.ts';
import { schedule } from './watching.ts';

/** A purge that takes more than an hour will hardly finish by itself. */
const LATE_SECONDS = 3600;

/** Deletes a sandbox's data after its reset, and erased conversations. */
export class Sandboxes extends Construct {
  readonly purge: ServiceFunction;

  constructor(
    scope: Construct,
    id: string,
    { code, tables, settings }: { code: CodeOf; tables: Tables; settings: Settings },
  ) {
    super(scope, id);
    const { service, outbox, deliveries, ledger, knowledge } = tables;
    this.purge = new ServiceFunction(this, 'Purge', {
      name: 'purge',
      description: 'Deletes what resets of sandboxes and erasures have left behind',
      code,
      timeoutSeconds: 300,
      // The next minute's run replaces a failed one.
      asyncRetries: 0,
      environment: {
        SERVICE_TABLE: service,
        OUTBOX_TABLE: outbox,
        DELIVERIES_TABLE: deliveries,
        LEDGER_TABLE: ledger,
        KNOWLEDGE_TABLE: knowledge,
        LINGER_SECONDS: String(settings.lingerSeconds),
      } satisfies EnvironmentOf<typeof PurgeEnvironment>,
    });
    schedule(this.purge, {
      fails: {
        says: 'The purge fails: data of reset sandboxes and erased conversations stays stored.',
        runbook: 'background.md#data-of-reset-sandboxes-is-still-stored',
      },
      silent: 'The purge does not run: data of reset sandboxes and erased conversations stays stored.',
    });
    alarmAt(this, 'PurgeLate', {
      metric: counted(this, PURGED.oldestSeconds).with({ statistic: cloudwatch.Stats.MAXIMUM }),
      threshold: LATE_SECONDS,
      runbook: 'background.md#data-of-reset-sandboxes-is-still-stored',
      says: 'Data of reset sandboxes or erased conversations is still stored an hour later; customers cannot see it.',
    });
  }
}
