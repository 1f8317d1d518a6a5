import { setTimeout as sleep } from 'node:timers/promises';
import type { Since } from '../since.ts';
import { chosen, startOf } from './endpoints.ts';
import { type Followed, lookRound } from './round.ts';
import type { SandboxApi, SandboxDelivery } from './sandbox-api.ts';
import type { State } from './state-file.ts';

/** Between two polls of the deliveries. */
const LOOK_EVERY_MS = 1000;
const FULL_LOOK_EVERY_MS = 60_000;
/** Between two polls for created or deleted endpoints. */
const ENDPOINTS_EVERY_MS = 30_000;

export interface FollowOptions {
  api: SandboxApi;
  /** Endpoint ids; empty for all. */
  webhooks: readonly string[];
  since: Since;
  once: boolean;
  state: State;
  save(state: State): Promise<void>;
  forward(delivery: SandboxDelivery): Promise<void>;
  /** Called with all endpoints at the start, and with each later change. */
  onEndpoints(change: { kind: 'start' | 'added' | 'gone'; ids: readonly string[] }): void;
  /** Aborts when the user stops the program. */
  signal: AbortSignal;
  /** Monotonic milliseconds. */
  now(): number;
}

/**
 * Follows the deliveries of a sandbox's endpoints until stopped, or once.
 * @returns endpoints with deliveries that could not be forwarded yet
 * @throws UserError as the API's calls do
 */
export async function follow(options: FollowOptions): Promise<string[]> {
  const { api, state, signal, now } = options;
  const followed = new Map<string, Followed>();
  const save = () => {
    for (const [id, { position }] of followed) state.positions.set(id, position);
    return options.save(state);
  };
  const parts = { list: api.deliveries, forward: options.forward, save, now };
  let endpointsAt: number | undefined;
  let fullAt: number | undefined;
  for (;;) {
    if (endpointsAt === undefined || followed.size === 0 || now() - endpointsAt >= ENDPOINTS_EVERY_MS) {
      const isStart = endpointsAt === undefined;
      endpointsAt = now();
      await lookUp(options, followed, isStart);
      await save();
    }
    const startedAt = now();
    const look = fullAt === undefined || startedAt - fullAt >= FULL_LOOK_EVERY_MS ? 'full' : 'short';
    const outcome = await lookRound(followed, look, parts);
    if (outcome === 'complete') {
      if (look === 'full') fullAt = startedAt;
      if (options.once)
        return [...followed].flatMap(([id, { waiting }]) => (waiting === undefined ? [] : id));
    } else {
      // The endpoint may be gone.
      endpointsAt = Math.min(endpointsAt, now() - ENDPOINTS_EVERY_MS);
    }
    await sleep(Math.max(0, startedAt + LOOK_EVERY_MS - now()), undefined, { signal });
  }
}

/** Polls the endpoints, and adds or removes those that changed. */
async function lookUp(
  { api, webhooks, since, state, onEndpoints }: FollowOptions,
  followed: Map<string, Followed>,
  isStart: boolean,
): Promise<void> {
  const { endpoints, at } = await api.endpoints();
  const present = isStart
    ? chosen(endpoints, webhooks)
    : endpoints.filter(({ id }) => webhooks.length === 0 || webhooks.includes(id));
  const added = present.filter(({ id }) => !followed.has(id));
  const gone = [...followed.keys()].filter((id) => !present.some((endpoint) => endpoint.id === id));
  for (const endpoint of added) followed.set(endpoint.id, { position: startOf(endpoint, state, since, at) });
  for (const id of gone) followed.delete(id);
  state.lookedAt = at;
  if (isStart) onEndpoints({ kind: 'start', ids: added.map(({ id }) => id) });
  else if (added.length > 0) onEndpoints({ kind: 'added', ids: added.map(({ id }) => id) });
  if (gone.length > 0) onEndpoints({ kind: 'gone', ids: gone });
}
