import { Construct } from 'constructs';
import type { MeteredType } from '../../functions/events/usage.ts';
import type { MeterEnvironment } from '../../functions/workers/meter.ts';
import type { BusQueues } from './bus.ts';
import { BusWorker } from './bus-worker.ts';
import type { EnvironmentOf } from './grants/resource.ts';
import type { CodeOf } from './service-function.ts';
import { ServiceStack } from './stacks/service-stack.ts';
import type { Tables } from './tables.ts';

/** Counts the usage of organizations, behind the bus. */
export class Metering extends Construct {
  constructor(
    scope: Construct,
    id: string,
    { code, tables, bus }: { code: CodeOf; tables: Tables; bus: BusQueues },
  ) {
    super(scope, id);
    const meter = new BusWorker(this, 'Meter', {
      bus,
      takes: { detailType: ['conversation.created', 'message.received'] satisfies MeteredType[] },
      name: 'meter',
      description: 'Counts what organizations use',
      code,
      timeoutSeconds: 30,
      environment: () =>
        ({
          SERVICE_TABLE: tables.service,
          USAGE_TABLE: tables.usage,
        }) satisfies EnvironmentOf<typeof MeterEnvironment>,
      // A batch writes an organization's counter once; few concurrent batches limit contention on it.
      batchSize: 50,
      batchSeconds: 5,
      maxConcurrency: 5,
      says: 'Conversations and messages could not be counted for an hour: their organizations are billed too little until they are.',
      late: 'What organizations use is counted late: the meter fails.',
    });
    // On this alarm no release is rolled back.
    const { deadLettersAlarm } = meter;
    if (deadLettersAlarm)
      ServiceStack.of(this).output(
        'TestAlarmName',
        deadLettersAlarm.alarmName,
        'The alarm that npm run verify sets for a test',
      );
  }
}
