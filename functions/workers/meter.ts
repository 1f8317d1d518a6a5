import * as z from 'zod/mini';
import { openTables } from '../aws/clients.ts';
import { NonEmptyText, readEnvironment } from '../aws/config.ts';
import { logger } from '../aws/logger.ts';
import { meterUsage, usageMeter } from '../events/usage.ts';
import { busWorker } from '../events/worker.ts';
import { gate } from '../tenancy/gate.ts';
import { organizationStates, readOrganizationState } from '../tenancy/organizations.ts';

export const MeterEnvironment = z.object({ SERVICE_TABLE: NonEmptyText, USAGE_TABLE: NonEmptyText });

const environment = readEnvironment(MeterEnvironment);
const { service, usage } = openTables(environment);
const { of } = organizationStates(readOrganizationState(service));

const count = meterUsage({ gate: gate(of), usage: usageMeter(usage), log: logger.log });

/** Counts the usage of organizations. */
export const handler = busWorker('meter', async (events) =>
  (await count(events)).map((event) => ({ event, why: 'failed' })),
);
