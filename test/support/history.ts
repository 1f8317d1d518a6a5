import { deriveDeliveryId, type OrgId, type ReceiverId } from '../../functions/aws/ids.ts';
import type { Table } from '../../functions/aws/table.ts';
import type { Change } from '../../functions/aws/transaction.ts';
import type { Delivery } from '../../functions/delivery/delivery.ts';
import { outboxStore } from '../../functions/delivery/outbox.ts';
import { deliveryStore } from '../../functions/delivery/rows.ts';
import type { OutboxEvent } from '../../functions/events/events.ts';
import { LIVE_GENERATION } from '../../functions/tenancy/tenant.ts';
import { anEvent } from '../builders.ts';
import { type BulkRow, putInBulk } from './bulk.ts';

const DAYS_MS = 20 * 86_400_000;

/**
 * Writes events of the last 20 days, each with a delivery that succeeded, without the work that events cause.
 * @param file of the embedded engine's database
 * @returns the events, oldest first
 */
export function writeHistory(
  file: string,
  { outbox, deliveries }: Record<'outbox' | 'deliveries', Table>,
  { orgId, webhookId, count }: { orgId: OrgId; webhookId: ReceiverId; count: number },
): OutboxEvent[] {
  const tenant = { orgId, generation: LIVE_GENERATION };
  const now = Date.now();
  const events = Array.from({ length: count }, (_, number) =>
    anEvent({ tenant, now: new Date(now - ((count - number) * DAYS_MS) / count) }),
  );
  const store = deliveryStore(deliveries);
  put(file, outbox, events.map(outboxStore(outbox).append));
  put(
    file,
    deliveries,
    events.map((event) => store.adding(succeeded(event, orgId, webhookId))),
  );
  return events;
}

/** A delivery whose first attempt succeeded. */
function succeeded(
  { id: eventId, type: eventType, createdAt }: OutboxEvent,
  orgId: OrgId,
  webhookId: ReceiverId,
): Delivery {
  const at = new Date(createdAt).toISOString();
  return {
    id: deriveDeliveryId(eventId, webhookId),
    orgId,
    generation: LIVE_GENERATION,
    webhookId,
    eventId,
    eventType,
    status: 'succeeded',
    attempts: 1,
    attemptLog: [{ number: 1, startedAt: at, durationMs: 40, status: 200 }],
    createdAt: at,
    terminalAt: at,
  };
}

const put = (file: string, { name }: Table, changes: readonly Change[]): void =>
  putInBulk(
    file,
    name,
    changes.map(({ write: { Put } }) => Put?.Item as BulkRow),
  );
