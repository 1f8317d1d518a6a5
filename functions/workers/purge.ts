import * as z from 'zod/mini';
import { openTables } from '../aws/clients.ts';
import { DecimalNumber, NonEmptyText, readEnvironment } from '../aws/config.ts';
import { logger } from '../aws/logger.ts';
import { count, gauge, PURGED } from '../aws/metrics.ts';
import { erasedConversations } from '../delivery/erasure.ts';
import { applyRetention } from '../delivery/retention.ts';
import { scheduledWorker } from '../events/worker.ts';
import { purgeSandboxes, purgeStore, sandboxRows } from '../tenancy/purge.ts';

export const PurgeEnvironment = z.object({
  SERVICE_TABLE: NonEmptyText,
  OUTBOX_TABLE: NonEmptyText,
  DELIVERIES_TABLE: NonEmptyText,
  LEDGER_TABLE: NonEmptyText,
  KNOWLEDGE_TABLE: NonEmptyText,
  /** Seconds after a reset in which older functions may still write the older generation. */
  LINGER_SECONDS: DecimalNumber,
});

const environment = readEnvironment(PurgeEnvironment);
const { service, outbox, deliveries, ledger, knowledge } = openTables(environment);

const now = () => new Date();

/** Longer than Lambda's maximum timeout. */
const LEASE_SECONDS = 960;

const run = purgeSandboxes(
  {
    purges: purgeStore(service),
    remains: [
      erasedConversations({ service, outbox, deliveries }, now),
      ...[outbox, deliveries, ledger, knowledge, service].map(sandboxRows),
    ],
    log: logger.log,
    now,
  },
  { lingerSeconds: environment.LINGER_SECONDS, leaseSeconds: LEASE_SECONDS },
);

const endConversations = applyRetention({ service, outbox }, { log: logger.log, now });

export const handler = scheduledWorker(async (hasTime) => {
  await endConversations(hasTime);
  const done = await run(hasTime);
  count(PURGED.deleted, done.deleted);
  gauge(PURGED.open, done.open);
  gauge(PURGED.oldestSeconds, done.oldestSeconds, 'Seconds');
  if (done.deleted + done.closed > 0) logger.log('ROWS_PURGED', done);
  return done;
});
