import { setTimeout as sleep } from 'node:timers/promises';
import type { Client, ItemOf } from '../../../sdk/src/index.ts';
import { isTransient } from '../report.ts';

export type SandboxDelivery = ItemOf<'listDeliveries'>;

export interface FollowOptions {
  /** Where to begin: an existing endpoint's next delivery without it. */
  from: Date | undefined;
  signal: AbortSignal;
  /** Called once per interruption, with what was wrong, and when the API answers again. */
  onTrouble(error: unknown): void;
  onRecovery(): void;
  /** Milliseconds between two reads. */
  pollMs?: number;
}

/** Half of a sandbox's requests per minute. */
const POLL_MS = 2_000;
/** Nearly all deliveries appear so soon after their event; every so many reads look for all others. */
const USUAL_LATENESS_MS = 60_000;
const LATENESS_MS = 15 * 60_000;
const FULL_READ_EVERY = 30;
/** Of a rate limit, which the user's own calls share: below it, reads are rarer. */
const SCARCE = 20;
const MOST = 1_000;

/** Each attempt of the deliveries to a sandbox's endpoint, oldest first, until the signal. */
export async function* followDeliveries(
  client: Client,
  endpointId: string,
  { from, signal, onTrouble, onRecovery, pollMs = POLL_MS }: FollowOptions,
): AsyncGenerator<SandboxDelivery, void, undefined> {
  const attempts = new Map<string, number>();
  let since = from ?? new Date(Date.now() - LATENESS_MS);
  let isTroubled = false;
  for (let reads = 0; ; ) {
    let factor = 1;
    try {
      const { deliveries, remaining } = await readAll(client, endpointId, since, signal);
      if (isTroubled) onRecovery();
      isTroubled = false;
      if (remaining < SCARCE) factor = 5;
      for (const delivery of deliveries.reverse()) {
        if (delivery.attempts <= (attempts.get(delivery.id) ?? 0) || !delivery.request) continue;
        attempts.set(delivery.id, delivery.attempts);
        if (reads > 0 || from !== undefined) yield delivery;
      }
      reads += 1;
      since = nextStart(deliveries, since, reads % FULL_READ_EVERY === 0 ? LATENESS_MS : USUAL_LATENESS_MS);
    } catch (error) {
      signal.throwIfAborted();
      if (!isTransient(error)) throw error;
      // The client has waited between its tries already.
      if (!isTroubled) onTrouble(error);
      isTroubled = true;
    }
    await sleep(pollMs * factor, undefined, { signal });
  }
}

async function readAll(client: Client, endpointId: string, from: Date, signal: AbortSignal) {
  const filter = { include: 'request', from: from.toISOString(), limit: 20 } as const;
  const list = client.deliveries.list(endpointId, filter, { signal });
  const deliveries: SandboxDelivery[] = [];
  let remaining = Number.POSITIVE_INFINITY;
  for (let cursor: string | null | undefined; cursor !== null && deliveries.length < MOST; ) {
    const { data: page, headers } = await list.page(cursor).withResponse();
    deliveries.push(...page.data);
    cursor = page.nextCursor;
    const [, left] = /\br=(\d+)/.exec(headers.get('ratelimit') ?? '') ?? [];
    if (left !== undefined) remaining = Number(left);
  }
  return { deliveries, remaining };
}

/** Behind the newest delivery, and not behind an open one. @param deliveries oldest first */
function nextStart(deliveries: readonly SandboxDelivery[], since: Date, lateness: number): Date {
  const newest = deliveries.at(-1);
  if (newest === undefined) return since;
  const open = deliveries.find(({ status }) => status === 'pending' || status === 'retrying');
  const times = [Date.parse(newest.createdAt) - lateness, ...(open ? [Date.parse(open.createdAt)] : [])];
  return new Date(Math.min(...times));
}
