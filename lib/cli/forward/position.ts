/**
 * How far an endpoint's deliveries were forwarded. An identifier begins with the time of its event, to the
 * millisecond, so that the order of identifiers as text is that of the events; but a delivery may appear
 * minutes after its event, below others.
 */
export interface Position {
  /** All deliveries with a lower identifier are forwarded or skipped. */
  floor: string;
  /** What was forwarded, from the floor on. */
  forwarded: ReadonlySet<string>;
}

/** A delivery as it stands in the listing. */
export interface Sighting {
  id: string;
  /** `waiting`: it will have a request to forward. `ended`: it never will. */
  state: 'attempted' | 'waiting' | 'ended';
}

/** How long after its event a delivery may still appear. */
const LATENESS_MS = 15 * 60_000;
/** Nearly all appear within this time, so most looks go no further back. */
const USUAL_LATENESS_MS = 60_000;

const PREFIX = 'dlv_';
const TIME_DIGITS = 12;

/** Before every delivery. */
export const BEGINNING: Position = { floor: '', forwarded: new Set() };

/** Before the deliveries of the events from `time` (milliseconds since the epoch) on. */
export function positionAt(time: number): Position {
  return { floor: firstIdAt(time), forwarded: new Set() };
}

/** The lowest identifier of the events that are at most so much older than that of `id`. */
export function lookBack(id: string, milliseconds: number): string {
  const time = Number.parseInt(id.slice(PREFIX.length, PREFIX.length + TIME_DIGITS), 16);
  return firstIdAt(time - milliseconds);
}

/** What is to be forwarded now, oldest first, and the oldest one that is not ready yet. */
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

/** A delivery was forwarded. */
export function withForwarded(position: Position, id: string): Position {
  return { floor: position.floor, forwarded: new Set(position.forwarded).add(id) };
}

/**
 * Raises the floor after a full poll, as far as no delivery can still appear below it and none waits below
 * it.
 * @param reached every delivery found up to this one is forwarded, skipped or waiting
 * @param waiting the oldest one that waits
 */
export function raised(position: Position, reached: string, waiting: string | undefined): Position {
  const floor = lowest(lookBack(reached, LATENESS_MS), waiting);
  if (floor <= position.floor) return position;
  return { floor, forwarded: new Set([...position.forwarded].filter((id) => id >= floor)) };
}

/**
 * How far back the next look has to go.
 * @param look `full` down to the floor; `short` down to what usually still appears, and to what is known to
 * wait
 * @param newest the newest one seen
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
