import type { DeliverySummary, ListedEvent } from '../../api/open-deliveries.ts';
import { type Outcome, STATUSES } from '../deliveries/statuses.ts';

/** How an event did at one receiver. */
export interface Receipt {
  /** Of the endpoint or the channel. */
  receiverId: string;
  /** The delivery that decides: the one that arrived, else the latest. */
  delivery: DeliverySummary;
}

const ORDER: readonly Outcome[] = ['failed', 'open', 'succeeded'];

export const receiverOf = ({ webhookId, channelId, id }: DeliverySummary): string =>
  webhookId ?? channelId ?? id;

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
  const rank = ({ delivery }: Receipt) => ORDER.indexOf(STATUSES[delivery.status].outcome);
  return [...byReceiver]
    .map(([receiverId, delivery]) => ({ receiverId, delivery }))
    .sort((one, other) => rank(one) - rank(other) || (one.receiverId < other.receiverId ? -1 : 1));
}

function isBetter(one: DeliverySummary, other: DeliverySummary): boolean {
  if ((one.status === 'succeeded') !== (other.status === 'succeeded')) return one.status === 'succeeded';
  return one.id > other.id;
}
