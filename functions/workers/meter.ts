import * as z from 'zod/mini';
import { gate } from '../domain/gate.ts';
import { NonEmptyText, readEnvironment } from '../platform/config.ts';
import { logger } from '../platform/logger.ts';
import { organizationStates } from '../platform/organization-states.ts';
import { busWorker } from '../platform/pipeline/worker.ts';
import { openTables } from '../platform/tables.ts';
import { readOrganizationState } from '../store/organizations.ts';
import { meterUsage, usageMeter } from '../store/usage.ts';

export const MeterEnvironment = z.object({ SERVICE_TABLE: NonEmptyText, USAGE_TABLE: NonEmptyText });
export type MeterEnvironment = z.input<typeof MeterEnvironment>;

const environment = readEnvironment(MeterEnvironment);
const { service, usage } = openTables(environment);
const { of } = organizationStates(readOrganizationState(service));

const count = meterUsage({
  gate: gate(of),
  usage: usageMeter(usage),
  log: logger.log,
});

/** Counts the usage of organizations. */
export const handler = busWorker('meter', async (events) =>
  (await count(events)).map((event) => ({ event, why: 'failed' })),
);
