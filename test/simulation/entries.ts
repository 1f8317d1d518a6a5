import type { DeliveryId, EventId } from '../../functions/domain/ids.ts';
import type { OutboxWork } from '../../functions/domain/redelivery.ts';
import type { Tenant } from '../../functions/domain/tenant.ts';

/** An entry of the outbox, and how far the service is with it. */
export interface Entry {
  owed: OutboxWork;
  /**
   * When it was committed, and when the fan-out was done with it, in the order of what happened to endpoints.
   */
  committed: number;
  done: number | undefined;
  isAbandoned: boolean;
  /** Its row is gone. */
  isPurged: boolean;
}

export const idOf = (owed: OutboxWork): EventId | DeliveryId =>
  owed.kind === 'event' ? owed.event.id : owed.reminder.id;

/** Whose data it is. */
export const tenantOf = (owed: OutboxWork): Tenant => (owed.kind === 'event' ? owed.event : owed.reminder);
