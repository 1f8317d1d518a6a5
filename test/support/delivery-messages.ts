import { newId, type OrgId, type ReceiverId } from '../../functions/aws/ids.ts';
import type { Table } from '../../functions/aws/table.ts';
import type { Change } from '../../functions/aws/transaction.ts';
import { createDelivery, type Delivery } from '../../functions/delivery/delivery.ts';
import { outboxStore } from '../../functions/delivery/outbox.ts';
import { deliveryStore } from '../../functions/delivery/rows.ts';
import { buildEvent } from '../../functions/events/events.ts';
import type { Row } from './tables.ts';

/** A delivery without a message in a queue, with its event. */
export interface WithoutMessage {
  delivery: Delivery;
  /** To be written, in this order. */
  rows: Row[];
  body: string;
}

/**
 * A delivery to an endpoint that subscribes to new tickets, as fan-out makes it. Its event is written over
 * another row, because the fan-out reads additions only: it would send a message.
 */
export function withoutMessages(
  { orgId, endpoint }: { orgId: OrgId; endpoint: ReceiverId },
  tables: { outbox: Table; deliveries: Table },
): WithoutMessage {
  const now = new Date();
  const tenant = { orgId, generation: 0 };
  const event = buildEvent('ticket.created', { ticketId: newId('tkt', now) }, { tenant, now });
  const delivery = createDelivery(event, { id: endpoint, status: 'active' }, now);
  const added = rowOf(outboxStore(tables.outbox).append(event));
  const { pk, sk } = added.item;
  return {
    delivery,
    rows: [
      { ...added, item: { pk, sk, kind: 'reserved' } },
      added,
      rowOf(deliveryStore(tables.deliveries).adding(delivery)),
    ],
    body: event.body,
  };
}

function rowOf({ write }: Change): Row {
  const { TableName: table = '', Item: item } = write.Put ?? {};
  if (item === undefined) throw new Error('the change puts no row');
  return { table, item };
}
