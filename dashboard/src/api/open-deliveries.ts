import type { Schema } from './client.ts';
import { isOver } from './pace.ts';

type LoggedEvent = Schema<'Event'>;
export type DeliverySummary = NonNullable<LoggedEvent['deliveries']>[number];
export type ListedEvent = LoggedEvent & { deliveries: DeliverySummary[] };

/** Deliveries of an event come into being within seconds. */
const FANNED_OUT_MS = 20_000;

/** The deliveries that are to be waited for; one that stands for all while there is none yet. */
export function openDeliveries(
  { createdAt, deliveries }: Pick<ListedEvent, 'createdAt' | 'deliveries'>,
  now: number,
): Pick<DeliverySummary, 'status' | 'nextRetryAt' | 'createdAt'>[] {
  if (deliveries.length === 0 && now - Date.parse(createdAt) < FANNED_OUT_MS)
    return [{ status: 'pending', nextRetryAt: null, createdAt }];
  return deliveries.filter((delivery) => !isOver(delivery));
}
