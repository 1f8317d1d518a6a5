/**
 * Position in an endpoint's deliveries. Ids sort by event time in milliseconds, but a delivery may appear
 * minutes after its event, below others.
 */
export interface Position {
  /** All deliveries with a lower id are forwarded or skipped. */
  floor: string;
  /** Forwarded ids from the floor on. */
  forwarded: ReadonlySet<string>;
}

/** A listed delivery. */
export interface Sighting {
  id: string;
  /** `waiting`: will have a request to forward. `ended`: never will. */
  state: 'attempted' | 'waiting' | 'ended';
}

/** Longest time between an event and its delivery's appearance. */
const LATENESS_MS = 15 * 60_000;
/** Nearly all appear within this time, so most polls go no further back. */
const USUAL_LATENESS_MS = 60_000;

const PREFIX = 'dlv_';
const TIME_DIGITS = 12;

/** Before every delivery. */
export const BEGINNING: Position = { floor: '', forwarded: new Set() };

/** Before the deliveries of events from `time` (epoch milliseconds) on. */
export function positionAt(time: number): Position {
  return { floor: firstIdAt(time), forwarded: new Set() };
}

/** Lowest id of events at most `milliseconds` older than that of `id`. */
export function lookBack(id: string, milliseconds: number): string {
  const time = Number.parseInt(id.slice(PREFIX.length, PREFIX.length + TIME_DIGITS), 16);
  return firstIdAt(time - milliseconds);
}

/** Deliveries to forward now, oldest first, and the oldest that is not ready. */
export function dueOf(
  position: Position,
  sightings: readonly Sighting[],
): { due: string[]; waiting: string | undefined } {
  const open = sightings
    .filter(({ id, state }) => state !== 'ended' && id >= position.floor && !position.forwarded.has(id))
    .sort((a, b) => (a.id < b.id ? -1 : 1));
  return {
    due: open.filter(({ state }) => state === 'attempted').map(({ id }) => id),
    waiting: open.find(({ state }) => state === 'waiting')?.id,
  };
}

export function withForwarded(position: Position, id: string): Position {
  return { floor: position.floor, forwarded: new Set(position.forwarded).add(id) };
}

/**
 * Raises the floor after a full poll to where no delivery can still appear or wait below it.
 * @param reached all found deliveries up to this one are forwarded, skipped or waiting
 * @param waiting the oldest waiting one
 */
export function raised(position: Position, reached: string, waiting: string | undefined): Position {
  const floor = lowest(lookBack(reached, LATENESS_MS), waiting);
  if (floor <= position.floor) return position;
  return { floor, forwarded: new Set([...position.forwarded].filter((id) => id >= floor)) };
}

/**
 * Lowest id that the next poll must reach.
 * @param look `full` down to the floor; `short` down to what usually still appears, and to known waiting ones
 * @param newest the newest id seen
 */
export function reachOf(
  position: Position,
  look: 'full' | 'short',
  { newest, waiting }: { newest?: string | undefined; waiting?: string | undefined },
): string {
  if (look === 'full' || newest === undefined) return position.floor;
  const short = lowest(lookBack(newest, USUAL_LATENESS_MS), waiting);
  return short < position.floor ? position.floor : short;
}

function lowest(id: string, other: string | undefined): string {
  return other !== undefined && other < id ? other : id;
}

function firstIdAt(time: number): string {
  return `${PREFIX}${Math.max(0, Math.floor(time)).toString(16).padStart(TIME_DIGITS, '0')}`;
}
