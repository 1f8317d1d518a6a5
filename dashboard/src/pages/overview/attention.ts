import type { Schema } from '../../api/client.ts';

type Row = Schema<'DeliveryStats'>['endpoints'][number];

/**
 * Endpoints that need attention: long waits are shown before the first delivery has failed, which takes an
 * hour.
 */
const ORDER = ['disabled', 'failing', 'waiting', 'replaced'] as const;
export type Attention = (typeof ORDER)[number];
type State = Pick<Row, 'status' | 'failing' | 'waitingSince' | 'url'>;

/** What of an endpoint needs attention, the gravest of it; undefined while it takes what it is sent. */
export function attentionOf(
  { status, failing, waitingSince, url }: State,
  all: readonly State[] = [],
): Attention | undefined {
  if (status === 'auto_disabled') {
    // Its URL is registered again: the recovery goes on with the new endpoint.
    const isReplaced = all.some((other) => other.url === url && other.status !== 'auto_disabled');
    return isReplaced ? 'replaced' : 'disabled';
  }
  if (failing !== null) return 'failing';
  return waitingSince === null ? undefined : 'waiting';
}

export const listAttention = <R extends State>(rows: readonly R[]): { row: R; attention: Attention }[] =>
  rows
    .flatMap((row) => {
      const attention = attentionOf(row, rows);
      return attention === undefined ? [] : [{ row, attention }];
    })
    .toSorted((one, other) => ORDER.indexOf(one.attention) - ORDER.indexOf(other.attention));

/** Since when a delivery of any of the endpoints waits, ISO 8601; null when none does for long. */
export const longestWait = (endpoints: readonly Pick<Row, 'waitingSince'>[]): string | null =>
  endpoints.flatMap(({ waitingSince }) => waitingSince ?? []).sort()[0] ?? null;
