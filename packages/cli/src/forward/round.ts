import { dueOf, type Position, raised, reachOf, type Sighting, withForwarded } from './position.ts';

/** A listed delivery that can be forwarded. */
export interface Listed extends Sighting {
  webhookId: string;
}

/** A page of an endpoint's deliveries, newest first. */
export interface Page<T extends Listed> {
  deliveries: readonly T[];
  next: string | undefined;
}

/** A followed endpoint, with this program's own state. */
export interface Followed {
  position: Position;
  newest?: string;
  waiting?: string;
}

export interface RoundParts<T extends Listed> {
  /**
   * Reads a page, whose requests are signed on reading.
   * @returns undefined when the endpoint is gone or the cursor is invalid
   */
  list(webhookId: string, cursor: string | undefined): Promise<Page<T> | undefined>;
  forward(delivery: T): Promise<void>;
  /** Stores the positions for the next start. */
  save(): Promise<void>;
  /** Monotonic milliseconds. */
  now(): number;
}

/** Receivers reject signatures older than 5 minutes (Standard Webhooks), and their clocks may differ. */
const FRESH_MS = 60_000;
/** Cached pages per endpoint; requests of older pages are read again when their turn comes. */
const KEPT_PAGES = 20;

interface Due {
  id: string;
  webhookId: string;
  /** Cursor of its page. */
  cursor: string | undefined;
}

/**
 * Polls all endpoints once and forwards due deliveries, oldest first. Saves positions after each delivery: a
 * killed program repeats at most one.
 * @param look how far back
 * @returns `cut short` when a found delivery is gone: the next poll decides
 */
export async function lookRound<T extends Listed>(
  followed: ReadonlyMap<string, Followed>,
  look: 'full' | 'short',
  parts: RoundParts<T>,
): Promise<'complete' | 'cut short'> {
  const requests = new Map<string, { delivery: T; readAt: number }>();
  const due: Due[] = [];
  const seen: [Followed, Seen][] = [];
  for (const [webhookId, it] of followed) {
    const walked = await walkBack(webhookId, reachOf(it.position, look, it), requests, parts);
    if (walked === 'changed') return 'cut short';
    const { due: ids, waiting } = dueOf(it.position, walked.sightings);
    due.push(...ids.map((id) => ({ id, webhookId, cursor: walked.cursors.get(id) })));
    it.waiting = waiting;
    seen.push([it, walked]);
  }
  for (const candidate of due.sort((a, b) => (a.id < b.id ? -1 : 1))) {
    const delivery = await findFresh(candidate, requests, parts);
    const it = followed.get(candidate.webhookId);
    if (delivery === undefined || it === undefined) return 'cut short';
    await parts.forward(delivery);
    requests.delete(candidate.id);
    const position = withForwarded(it.position, candidate.id);
    it.position = look === 'full' ? raised(position, candidate.id, it.waiting) : position;
    await parts.save();
  }
  let moved = false;
  for (const [it, { newest }] of seen) {
    if (newest === undefined) continue;
    it.newest = newest;
    const position = look === 'full' ? raised(it.position, newest, it.waiting) : it.position;
    moved ||= position !== it.position;
    it.position = position;
  }
  if (moved) await parts.save();
  return 'complete';
}

interface Seen {
  sightings: Sighting[];
  cursors: Map<string, string | undefined>;
  newest: string | undefined;
}

/** Reads older pages until an id below `reach`. */
async function walkBack<T extends Listed>(
  webhookId: string,
  reach: string,
  requests: Map<string, { delivery: T; readAt: number }>,
  parts: RoundParts<T>,
): Promise<Seen | 'changed'> {
  const seen: Seen = { sightings: [], cursors: new Map(), newest: undefined };
  const pages: (readonly T[])[] = [];
  let cursor: string | undefined;
  do {
    const page = await parts.list(webhookId, cursor);
    if (page === undefined) return 'changed';
    keep(page.deliveries, requests, parts.now());
    pages.push(page.deliveries);
    for (const { id } of pages.at(-1 - KEPT_PAGES) ?? []) requests.delete(id);
    for (const { id, state } of page.deliveries) {
      seen.newest ??= id;
      seen.sightings.push({ id, state });
      seen.cursors.set(id, cursor);
    }
    const last = page.deliveries.at(-1);
    cursor = last !== undefined && last.id < reach ? undefined : page.next;
  } while (cursor !== undefined);
  return seen;
}

/** The delivery with a sufficiently new signature. */
async function findFresh<T extends Listed>(
  { id, webhookId, cursor }: Due,
  requests: Map<string, { delivery: T; readAt: number }>,
  parts: RoundParts<T>,
): Promise<T | undefined> {
  const kept = requests.get(id);
  if (kept !== undefined && parts.now() - kept.readAt <= FRESH_MS) return kept.delivery;
  const page = await parts.list(webhookId, cursor);
  if (page === undefined) return undefined;
  keep(page.deliveries, requests, parts.now());
  const again = page.deliveries.find((delivery) => delivery.id === id);
  return again?.state === 'attempted' ? again : undefined;
}

function keep<T extends Listed>(
  deliveries: readonly T[],
  requests: Map<string, { delivery: T; readAt: number }>,
  readAt: number,
): void {
  for (const delivery of deliveries)
    if (delivery.state === 'attempted') requests.set(delivery.id, { delivery, readAt });
}
