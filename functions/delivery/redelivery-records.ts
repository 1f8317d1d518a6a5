import { assign, expression } from '../aws/expression.ts';
import type { RedeliveryJobId } from '../aws/ids.ts';
import { type EventId, parseCreationTime, type ReceiverId } from '../aws/ids.ts';
import { getMany, readRows, type Table, toExpiry, update } from '../aws/table.ts';
import { buildUpdate, type Change } from '../aws/transaction.ts';
import { EVENT_DAYS, HISTORY_DAYS } from '../events/events.ts';
import { buildSandboxMark, type Key, keys } from '../tenancy/keys.ts';
import type { Tenant } from '../tenancy/tenant.ts';
import type { Delivery } from './delivery.ts';
import { Arrival, RedeliveryMark } from './redelivery.ts';

/**
 * Records that a redelivery succeeded, in the transaction that settles it. Never refused; the first record
 * stays. A separate row, because an update of the failed delivery would appear in the stream as a second end.
 */
export function recordArrival(service: Pick<Table, 'name'>, delivery: Delivery): Change {
  const { eventId, id } = delivery;
  const set = {
    eventId,
    // As long as the event can be resent.
    expiresAt: toExpiry(parseCreationTime(eventId), EVENT_DAYS),
    ...buildSandboxMark(delivery),
  };
  return buildUpdate(service, keys.arrival(delivery, delivery.webhookId, eventId), {
    refusal: 'exists',
    update: expression`SET ${assign(set)}, deliveryId = if_not_exists(deliveryId, ${id})`,
  });
}

/** Events that a redelivery delivered. */
export function arrivalStore(service: Table) {
  // A caller that has seen the success expects the event not to be resent.
  const read = async (wanted: readonly Key[]): Promise<Record<string, unknown>[]> =>
    getMany(service, wanted, { consistent: true });

  /**
   * Returns the successful redelivery of each pair of an event and a receiver that has one.
   * @param pairs without repetition
   * @throws Throttled when DynamoDB keeps returning unprocessed keys
   */
  async function ofPairs(
    tenant: Tenant,
    pairs: readonly { eventId: EventId; webhookId: ReceiverId }[],
  ): Promise<{ webhookId: ReceiverId; id: Delivery['id'] }[]> {
    const wanted = pairs.map(({ eventId, webhookId }) => keys.arrival(tenant, webhookId, eventId));
    const byKey = new Map(wanted.map(({ pk }, index) => [pk, pairs[index]?.webhookId]));
    return (await read(wanted)).flatMap((row) => {
      const webhookId = byKey.get(String(row.pk));
      return webhookId === undefined ? [] : [{ webhookId, id: Arrival.parse(row).deliveryId }];
    });
  }

  return {
    /**
     * Returns the successful redelivery of an event at each receiver that has one.
     * @param receivers without repetition
     * @throws Throttled when DynamoDB keeps returning unprocessed keys
     */
    async at(
      tenant: Tenant,
      event: EventId,
      receivers: readonly ReceiverId[],
    ): Promise<Map<ReceiverId, Delivery['id']>> {
      const pairs = receivers.map((webhookId) => ({ eventId: event, webhookId }));
      return new Map((await ofPairs(tenant, pairs)).map(({ webhookId, id }) => [webhookId, id]));
    },

    ofPairs,

    /**
     * Returns the successful redelivery of each event that has one.
     * @param events without repetition
     * @throws Throttled when DynamoDB keeps returning unprocessed keys
     */
    async of(
      { webhookId, ...tenant }: Tenant & { webhookId: ReceiverId },
      events: readonly EventId[],
    ): Promise<Map<EventId, Delivery['id']>> {
      const rows = await read(events.map((event) => keys.arrival(tenant, webhookId, event)));
      return new Map(
        readRows(service, rows, (row) => Arrival.parse(row)).map(({ eventId, deliveryId }) => [
          eventId,
          deliveryId,
        ]),
      );
    },
  };
}

/** The latest redelivery of an event, by a job or by a request for it alone. */
export function redeliveryMarks(service: Table) {
  /** An update, because the worker may put nothing into this table. */
  function buildMark(
    { eventId, id: deliveryId, createdAt, ...tenant }: Delivery,
    ofJob: Pick<RedeliveryMark, 'jobDeliveryId' | 'redeliveryId'> = {},
  ) {
    const mark: RedeliveryMark = { eventId, deliveryId, ...ofJob };
    const expiresAt = toExpiry(new Date(createdAt), HISTORY_DAYS);
    return expression`SET ${assign({ ...mark, expiresAt, ...buildSandboxMark(tenant) })}`;
  }
  const buildKey = (delivery: Delivery): Key =>
    keys.redeliveryMark(delivery, delivery.webhookId, delivery.eventId);

  return {
    /**
     * Sets the mark of a job's redelivery. Repeatable: a repeated page sets the same ones.
     * @param seen the mark as it was read, if there was one
     * @returns false when another redelivery has set it since
     */
    async set(
      { id: redeliveryId }: { id: RedeliveryJobId },
      delivery: Delivery,
      seen: Delivery['id'] | undefined,
    ): Promise<boolean> {
      const { id } = delivery;
      const { kind } = await update(service, buildKey(delivery), {
        update: buildMark(delivery, { jobDeliveryId: id, redeliveryId }),
        if: expression`attribute_not_exists(deliveryId) OR deliveryId IN (${id}, ${seen ?? id})`,
      });
      return kind === 'done';
    },

    /** Sets the mark of a single redelivery, in the transaction that adds it. Never refused. */
    replacing(delivery: Delivery): Change {
      return buildUpdate(service, buildKey(delivery), { refusal: 'exists', update: buildMark(delivery) });
    },

    /**
     * Returns the mark of each event that has one.
     * @param events without repetition
     * @throws Throttled when DynamoDB keeps returning unprocessed keys
     */
    async of(
      { webhookId, ...tenant }: Tenant & { webhookId: ReceiverId },
      events: readonly EventId[],
    ): Promise<Map<EventId, RedeliveryMark>> {
      const wanted = events.map((event) => keys.redeliveryMark(tenant, webhookId, event));
      const rows = await getMany(service, wanted, { consistent: true });
      const marks = readRows(service, rows, (row) => RedeliveryMark.parse(row));
      return new Map(marks.map((mark) => [mark.eventId, mark]));
    },
  };
}
