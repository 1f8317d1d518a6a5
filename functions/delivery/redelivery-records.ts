import { assign, expression, unchanged } from '../aws/expression.ts';
import type { RedeliveryJobId } from '../aws/ids.ts';
import { type EventId, parseCreationTime, type ReceiverId } from '../aws/ids.ts';
import { getMany, readRows, type Table, toExpiry } from '../aws/table.ts';
import { buildUpdate, type Change } from '../aws/transaction.ts';
import { EVENT_DAYS } from '../events/events.ts';
import { buildSandboxMark, keys } from '../tenancy/keys.ts';
import type { Tenant } from '../tenancy/tenant.ts';
import type { Delivery } from './delivery.ts';
import { RedeliveryRecord } from './redelivery.ts';

type Named = Pick<Table, 'name'>;

const buildKey = (delivery: Delivery) =>
  keys.redeliveryRecord(delivery, delivery.webhookId, delivery.eventId);

/** What each change of a record sets: it is kept as long as the event. */
const getBasis = ({ eventId, webhookId, orgId, generation }: Delivery) => ({
  eventId,
  webhookId,
  expiresAt: toExpiry(parseCreationTime(eventId), EVENT_DAYS),
  ...buildSandboxMark({ orgId, generation }),
});

/**
 * Records a redelivery as the latest of its event, in the transaction that adds it.
 * @param ofJob the job that adds it, and the record as it was read: refused as `redelivery-overtaken` when
 * another one was added since. That of a single redelivery is never refused
 */
export function recordRedelivery(
  service: Named,
  delivery: Delivery,
  ofJob?: { job: { id: RedeliveryJobId }; read: Partial<RedeliveryRecord> },
): Change {
  const { id: deliveryId } = delivery;
  const set = {
    ...getBasis(delivery),
    deliveryId,
    ...(ofJob && { jobDeliveryId: deliveryId, redeliveryId: ofJob.job.id }),
  };
  return buildUpdate(service, buildKey(delivery), {
    refusal: 'redelivery-overtaken',
    update: expression`SET ${assign(set)}`,
    if: ofJob && unchanged(ofJob.read, ['deliveryId']),
  });
}

/**
 * Records that a redelivery succeeded, in the transaction that settles it. Never refused; the first success
 * stays. In a row of its own, because an update of the failed delivery would appear in the stream as a second
 * end.
 */
export function recordSuccess(service: Named, delivery: Delivery): Change {
  const { id } = delivery;
  return buildUpdate(service, buildKey(delivery), {
    refusal: 'exists',
    update: expression`SET ${assign(getBasis(delivery))},
      deliveryId = if_not_exists(deliveryId, ${id}), succeededId = if_not_exists(succeededId, ${id})`,
  });
}

/**
 * Reads the records of those pairs of an event and a receiver that have one. Consistently: a caller that has
 * seen the success expects the event not to be resent.
 * @param pairs without repetition
 * @throws Throttled when DynamoDB keeps returning unprocessed keys
 */
export const redeliveryRecords =
  (service: Table) =>
  async (
    tenant: Tenant,
    pairs: readonly { eventId: EventId; webhookId: ReceiverId }[],
  ): Promise<RedeliveryRecord[]> => {
    const wanted = pairs.map(({ eventId, webhookId }) => keys.redeliveryRecord(tenant, webhookId, eventId));
    const rows = await getMany(service, wanted, { consistent: true });
    return readRows(service, rows, (row) => RedeliveryRecord.parse(row));
  };
