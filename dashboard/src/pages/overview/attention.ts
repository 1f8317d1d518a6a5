import type { Schema } from '../../api/client.ts';

type Row = Schema<'DeliveryStats'>['endpoints'][number];

/**
 * Endpoints that need attention: long waits are shown before the first delivery has failed, which takes an
 * hour.
 */
export type Attention = 'disabled' | 'failing' | 'waiting';

/** What of an endpoint needs attention, the gravest of it; undefined while it takes what it is sent. */
export function attentionOf({
  status,
  failing,
  waitingSince,
}: Pick<Row, 'status' | 'failing' | 'waitingSince'>): Attention | undefined {
  if (status === 'auto_disabled') return 'disabled';
  if (failing !== null) return 'failing';
  return waitingSince === null ? undefined : 'waiting';
}

/** Since when a delivery of any of the endpoints waits, ISO 8601; null when none does for long. */
export const longestWait = (endpoints: readonly Pick<Row, 'waitingSince'>[]): string | null =>
  endpoints.flatMap(({ waitingSince }) => waitingSince ?? []).sort()[0] ?? null;
