import type { DeliverySummary, ListedEvent } from '../../api/open-deliveries.ts';

/** How an event did at one receiver. */
export interface Receipt {
  /** Of the endpoint or the channel. */
  receiverId: string;
  /** The delivery that decides: the one that arrived, else the latest. */
  delivery: DeliverySummary;
  /** The delivery by which the event has arrived instead; undefined for one that needs none. */
  recoveredBy: DeliverySummary | undefined;
}

/** What needs a reader first. */
const ORDER: readonly DeliverySummary['status'][] = [
  ...(['exhausted', 'skipped', 'retrying', 'pending', 'succeeded'] as const),
];

export const receiverOf = ({
  webhookId,
  channelId,
  id,
}: Pick<DeliverySummary, 'webhookId' | 'channelId' | 'id'>): string => webhookId ?? channelId ?? id;

/**
 * The delivery by which an event has arrived at last: a resend, or one to the endpoint that was registered in
 * the place of a disabled or deleted one, for its URL.
 */
export function recovererOf<D extends DeliverySummary>(
  delivery: DeliverySummary,
  deliveries: readonly D[],
): D | undefined {
  if (delivery.status === 'succeeded') return undefined;
  const isReplaced = delivery.receiverStatus === 'auto_disabled' || delivery.receiverStatus === 'deleted';
  return deliveries.find(
    (other) =>
      other.status === 'succeeded' &&
      (receiverOf(other) === receiverOf(delivery) || (isReplaced && other.url === delivery.url)),
  );
}

/**
 * What became of an event at each of its receivers, what failed first: a resend that arrived makes good for
 * the delivery that failed.
 */
export function receiptsOf({ deliveries }: Pick<ListedEvent, 'deliveries'>): Receipt[] {
  const byReceiver = new Map<string, DeliverySummary>();
  for (const delivery of deliveries) {
    const known = byReceiver.get(receiverOf(delivery));
    if (known === undefined || isBetter(delivery, known)) byReceiver.set(receiverOf(delivery), delivery);
  }
  const rank = ({ delivery, recoveredBy }: Receipt) =>
    ORDER.indexOf(recoveredBy === undefined ? delivery.status : 'succeeded');
  return [...byReceiver]
    .map(([receiverId, delivery]) => ({
      ...{ receiverId, delivery, recoveredBy: recovererOf(delivery, deliveries) },
    }))
    .sort((one, other) => rank(one) - rank(other) || (one.receiverId < other.receiverId ? -1 : 1));
}

function isBetter(one: DeliverySummary, other: DeliverySummary): boolean {
  if ((one.status === 'succeeded') !== (other.status === 'succeeded')) return one.status === 'succeeded';
  return one.id > other.id;
}
