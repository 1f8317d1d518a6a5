import middy from '@middy/core';
import type { Context } from 'aws-lambda';
import * as z from 'zod/mini';
import { auditLedger, type LedgerAudit } from '../engine/audit-ledger.ts';
import { documentClient } from '../platform/clients/clients.ts';
import { DecimalNumber, NonEmptyText, readEnvironment } from '../platform/config.ts';
import { logger } from '../platform/logger.ts';
import { LEDGER_DIFFERENCE } from '../platform/metric-names.ts';
import { count } from '../platform/metrics.ts';
import { organizationStates } from '../platform/organization-states.ts';
import { invocation } from '../platform/pipeline/worker.ts';
import { reportUnreadable } from '../platform/reports.ts';
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
const client = documentClient();
const deliveries = { client, name: environment.DELIVERIES_TABLE, reportUnreadable };

/** Reserved for the current page. A run reads no further page when less time is left. Milliseconds. */
const PAGE_MS = 10_000;

const run = auditLedger(
  {
    ledger: ledgerStore({ client, name: environment.LEDGER_TABLE, reportUnreadable }),
    deliveries: { inHour: deliveriesInHour(deliveries) },
    due: dueIndex(deliveries),
    organizations: organizationStates(
      readOrganizationState({ client, name: environment.SERVICE_TABLE, reportUnreadable }),
    ),
    log: logger.log,
    now: () => new Date(),
  },
  { ledgerShards: LEDGER_SHARDS, deliveryShards: DELIVERY_SHARDS, graceSeconds: environment.GRACE_SECONDS },
);

export const handler = middy<unknown, LedgerAudit>()
  .use(invocation())
  .handler(async (_event: unknown, context: Context) => {
    const found = await run(() => context.getRemainingTimeInMillis() > PAGE_MS);
    count(LEDGER_DIFFERENCE, found.differing);
    logger.log('LEDGER_CHECKED', found);
    return found;
  });
