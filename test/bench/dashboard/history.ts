import { deriveDeliveryId, type OrgId, type ReceiverId } from '../../../functions/aws/ids.ts';
import type { Table } from '../../../functions/aws/table.ts';
import type { Change } from '../../../functions/aws/transaction.ts';
import { outboxStore } from '../../../functions/delivery/outbox.ts';
import { deliveryStore } from '../../../functions/delivery/rows.ts';
import type { OutboxEvent } from '../../../functions/events/events.ts';
import { LIVE_GENERATION } from '../../../functions/tenancy/tenant.ts';
import { anEvent } from '../../builders.ts';
import { type BulkRow, putInBulk } from '../growth/bulk.ts';
import { succeeded } from '../growth/seeds.ts';

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
    events.map(({ id: eventId, type: eventType, createdAt }) =>
      store.adding({
        ...succeeded(orgId, webhookId, new Date(createdAt)),
        id: deriveDeliveryId(eventId, webhookId),
        eventId,
        eventType,
      }),
    ),
  );
  return events;
}

const put = (file: string, { name }: Table, changes: readonly Change[]): void =>
  putInBulk(
    file,
    name,
    changes.map(({ write: { Put } }) => Put?.Item as BulkRow),
    () => undefined,
  );
