import { quantile } from '../../support/statistics.ts';

/** How far arrivals are from the order of their events. */
export interface Disorder {
  /** Positions between an event's place among the arrivals and its place among the events. */
  p99: number;
  most: number;
}

/**
 * Compares arrivals with the order of their events.
 * @param events oldest first
 * @param arrivals of these events, first arrivals only, in their order
 */
export function measureDisorder(events: readonly string[], arrivals: readonly string[]): Disorder {
  const arrived = new Set(arrivals);
  const places = new Map(events.filter((id) => arrived.has(id)).map((id, place) => [id, place]));
  const distances = arrivals.map((id, place) => Math.abs(place - (places.get(id) ?? place)));
  return { p99: distances.length === 0 ? 0 : quantile(distances, 0.99), most: Math.max(0, ...distances) };
}

/** How often each event of a list arrived. */
export function countArrivals(
  events: readonly string[],
  arrivals: readonly string[],
): { missing: number; doubles: number } {
  const counts = new Map<string, number>();
  for (const id of arrivals) counts.set(id, (counts.get(id) ?? 0) + 1);
  return {
    missing: events.filter((id) => !counts.has(id)).length,
    doubles: events.reduce((sum, id) => sum + Math.max(0, (counts.get(id) ?? 0) - 1), 0),
  };
}
