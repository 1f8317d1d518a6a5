import middy from '@middy/core';
import type { DynamoDBStreamEvent } from 'aws-lambda';
import * as z from 'zod/mini';
import { openTables } from '../aws/clients.ts';
import { DecimalNumber, NonEmptyText, readEnvironment } from '../aws/config.ts';
import { invocation, logger } from '../aws/logger.ts';
import { count, ENDED } from '../aws/metrics.ts';
import { dueIndex } from '../delivery/due-index.ts';
import { ledgerStore } from '../delivery/ledger.ts';
import { parseChange, processDeliveryStream } from '../delivery/ledger-updates.ts';
import { organizationStates, readOrganizationState } from '../tenancy/organizations.ts';

export const DeliveryStreamEnvironment = z.object({
  SERVICE_TABLE: NonEmptyText,
  DELIVERIES_TABLE: NonEmptyText,
  LEDGER_TABLE: NonEmptyText,
  GRACE_SECONDS: DecimalNumber,
});

const environment = readEnvironment(DeliveryStreamEnvironment);
const { service, deliveries, ledger } = openTables(environment);

const run = processDeliveryStream(
  {
    due: dueIndex(deliveries),
    ledger: ledgerStore(ledger),
    organizations: organizationStates(readOrganizationState(service)),
    log: logger.log,
    now: () => new Date(),
  },
  { graceSeconds: environment.GRACE_SECONDS },
);

/**
 * Fields that Lambda adds for a tumbling window. The mapping has one only for the shard id, which is needed
 * to count a record exactly once.
 */
interface WindowedEvent extends DynamoDBStreamEvent {
  shardId: string;
  state?: Record<string, unknown>;
}

/**
 * Processes additions and ends of deliveries from the table's stream. Fails as a whole; repeated work changes
 * nothing.
 */
export const handler = middy<WindowedEvent, { state: Record<string, unknown> }>()
  .use(invocation())
  .handler(async ({ Records, shardId }: WindowedEvent) => {
    const changes = Records.flatMap(parseChange);
    await run(shardId, changes);
    for (const { delivery } of changes) if (isEnd(delivery.status)) count(ENDED[delivery.status]);
    return { state: {} };
  });

/** A delivery that was skipped at creation ends with its addition. */
const isEnd = (status: string): status is keyof typeof ENDED => Object.hasOwn(ENDED, status);
