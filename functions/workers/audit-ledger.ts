import * as z from 'zod/mini';
import { auditLedger } from '../engine/audit-ledger.ts';
import { DecimalNumber, NonEmptyText, readEnvironment } from '../platform/config.ts';
import { logger } from '../platform/logger.ts';
import { LEDGER_DIFFERENCE } from '../platform/metric-names.ts';
import { count } from '../platform/metrics.ts';
import { organizationStates } from '../platform/organization-states.ts';
import { scheduledWorker } from '../platform/pipeline/worker.ts';
import { openTables } from '../platform/tables.ts';
import { dueIndex } from '../store/due-index.ts';
import { DELIVERY_SHARDS, LEDGER_SHARDS } from '../store/keys.ts';
import { deliveriesInHour, ledgerStore } from '../store/ledger.ts';
import { readOrganizationState } from '../store/organizations.ts';

export const AuditLedgerEnvironment = z.object({
  SERVICE_TABLE: NonEmptyText,
  DELIVERIES_TABLE: NonEmptyText,
  LEDGER_TABLE: NonEmptyText,
  GRACE_SECONDS: DecimalNumber,
});
export type AuditLedgerEnvironment = z.input<typeof AuditLedgerEnvironment>;

const environment = readEnvironment(AuditLedgerEnvironment);
const { service, deliveries, ledger } = openTables(environment);

const run = auditLedger(
  {
    ledger: ledgerStore(ledger),
    deliveries: { inHour: deliveriesInHour(deliveries) },
    due: dueIndex(deliveries),
    organizations: organizationStates(readOrganizationState(service)),
    log: logger.log,
    now: () => new Date(),
  },
  { ledgerShards: LEDGER_SHARDS, deliveryShards: DELIVERY_SHARDS, graceSeconds: environment.GRACE_SECONDS },
);

export const handler = scheduledWorker(async (hasTime) => {
  const found = await run(hasTime);
  count(LEDGER_DIFFERENCE, found.differing);
  logger.log('LEDGER_CHECKED', found);
  return found;
});
