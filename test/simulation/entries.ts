import type { DeliveryId, EventId } from '../../functions/aws/ids.ts';
import type { OutboxWork } from '../../functions/delivery/redelivery.ts';
import type { Tenant } from '../../functions/tenancy/tenant.ts';
import type { Row } from '../doubles/tables/expressions.ts';

/** An entry of the outbox, and how far it is processed. */
export interface Entry {
  row: Row;
  owed: OutboxWork;
  /** When it was committed, and when its fan-out was done, in the order of changes of endpoints. */
  committed: number;
  done: number | undefined;
  isAbandoned: boolean;
}

const idOf = (owed: OutboxWork): EventId | DeliveryId =>
  owed.kind === 'event' ? owed.event.id : owed.deliveryMessage.id;

/** The name of an entry in the world. A delivery has one for each time that it was sent at once. */
export const nameOf = (owed: OutboxWork): string =>
  owed.kind === 'event' || owed.retryAfter === undefined
    ? idOf(owed)
    : `${owed.deliveryMessage.id}#retry#${owed.retryAfter}`;

/** The tenant that owns it. */
export const tenantOf = (owed: OutboxWork): Tenant =>
  owed.kind === 'event' ? owed.event : owed.deliveryMessage;
