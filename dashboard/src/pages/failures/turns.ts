import type { FailedDelivery } from './groups.ts';

/** Requests of one reading: all users of an organization share 600 a minute. */
const MAX_REQUESTS = 20;

/** Where reading an endpoint's deliveries continues. */
export interface Place {
  webhookId: string;
  cursor: string | null;
}

interface Reading {
  deliveries: FailedDelivery[];
  /** Endpoints that are not read to their end. */
  rest: Place[];
}

/** Reads one page of one endpoint. */
type ReadPage = (
  place: Place,
  signal: AbortSignal,
) => Promise<{ rows: FailedDelivery[]; next: string | null }>;

/**
 * Reads deliveries of all places in turn, so that a busy endpoint does not hide the others, until there are
 * no more or the bound is reached.
 */
export async function readTurns(
  places: readonly Place[],
  read: ReadPage,
  signal: AbortSignal,
): Promise<Reading> {
  const queue = [...places];
  const deliveries: FailedDelivery[] = [];
  for (let requests = 0; requests < MAX_REQUESTS; requests += 1) {
    const place = queue.shift();
    if (place === undefined) break;
    const { rows, next } = await read(place, signal);
    deliveries.push(...rows);
    if (next !== null) queue.push({ ...place, cursor: next });
  }
  return { deliveries, rest: queue };
}
