import * as z from 'zod/mini';
import { gate } from '../domain/gate.ts';
import { meterUsage } from '../engine/meter.ts';
import { tableClient } from '../platform/clients/clients.ts';
import { NonEmptyText, readEnvironment } from '../platform/config.ts';
import { logger } from '../platform/logger.ts';
import { organizationStates } from '../platform/organization-states.ts';
import { busWorker } from '../platform/pipeline/worker.ts';
import { reportUnreadable } from '../platform/reports.ts';
import { readOrganizationState } from '../store/organizations.ts';
import { usageMeter } from '../store/usage.ts';

export const MeterEnvironment = z.object({ SERVICE_TABLE: NonEmptyText, USAGE_TABLE: NonEmptyText });
export type MeterEnvironment = z.input<typeof MeterEnvironment>;

const environment = readEnvironment(MeterEnvironment);
const client = tableClient();
const { of } = organizationStates(
  readOrganizationState({ client, name: environment.SERVICE_TABLE, reportUnreadable }),
);

const count = meterUsage({
  gate: gate(of),
  usage: usageMeter({ client, name: environment.USAGE_TABLE, reportUnreadable }),
  log: logger.log,
});

/** Counts the usage of organizations. */
export const handler = busWorker('meter', async (events) =>
  (await count(events)).map((event) => ({ event, why: 'failed' })),
);
