import * as z from 'zod/mini';
import { openTables } from '../aws/clients.ts';
import { DecimalNumber, NonEmptyText, readEnvironment } from '../aws/config.ts';
import { logger } from '../aws/logger.ts';
import { count, LEDGER_DIFFERENCE } from '../aws/metrics.ts';
import { dueIndex } from '../delivery/due-index.ts';
import { deliveriesInHour, ledgerStore } from '../delivery/ledger.ts';
import { auditLedger } from '../delivery/ledger-updates.ts';
import { scheduledWorker } from '../events/worker.ts';
import { organizationStates, readOrganizationState } from '../tenancy/organizations.ts';

export const AuditLedgerEnvironment = z.object({
  SERVICE_TABLE: NonEmptyText,
  DELIVERIES_TABLE: NonEmptyText,
  LEDGER_TABLE: NonEmptyText,
  GRACE_SECONDS: DecimalNumber,
});

const environment = readEnvironment(AuditLedgerEnvironment);
const { service, deliveries, ledger } = openTables(environment);

const run = auditLedger(
  {
    ledger: ledgerStore(ledger),
    readDeliveries: deliveriesInHour(deliveries),
    due: dueIndex(deliveries),
    organizations: organizationStates(readOrganizationState(service)),
    log: logger.log,
    now: () => new Date(),
  },
  { graceSeconds: environment.GRACE_SECONDS },
);

export const handler = scheduledWorker(async (hasTime) => {
  const audit = await run(hasTime);
  count(LEDGER_DIFFERENCE, audit.differing);
  logger.log('LEDGER_CHECKED', audit);
  return audit;
});
