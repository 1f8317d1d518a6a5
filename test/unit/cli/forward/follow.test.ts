import { describe, expect, it } from 'vitest';
import { type FollowOptions, follow } from '../../../../packages/cli/src/forward/follow.ts';
import type { SandboxDelivery, SandboxEndpoint } from '../../../../packages/cli/src/forward/sandbox-api.ts';
import type { State } from '../../../../packages/cli/src/forward/state-file.ts';
import { idAt } from './sandbox-fixture.ts';

const HOUR = 3_600_000;
const NOW = Date.parse('2026-11-20T09:30:00Z');

/** A sandbox on a clock of its own: each poll of the endpoints comes a minute after the one before. */
function aSandbox(plan: { endpoints: SandboxEndpoint[]; deliveries: SandboxDelivery[] }[]) {
  let look = -1;
  let clock = 0;
  const stop = new AbortController();
  const forwarded: string[] = [];
  const changes: string[] = [];
  const saved: State[] = [];
  const state: State = { lookedAt: undefined, positions: new Map() };
  const options: FollowOptions = {
    api: {
      endpoints: async () => {
        look += 1;
        clock += 60_000;
        if (look === plan.length) stop.abort();
        stop.signal.throwIfAborted();
        return { endpoints: plan[look]?.endpoints ?? [], at: NOW + look * 60_000 };
      },
      deliveries: async (webhookId) => {
        clock += 40_000;
        const all = plan[look]?.deliveries.filter((each) => each.webhookId === webhookId) ?? [];
        return { deliveries: all.toSorted((a, b) => (a.id < b.id ? 1 : -1)), next: undefined };
      },
    },
    webhooks: [],
    since: { kind: 'ago', milliseconds: 0 },
    once: false,
    state,
    save: async ({ lookedAt, positions }) => void saved.push({ lookedAt, positions: new Map(positions) }),
    forward: async ({ id }) => void forwarded.push(id),
    onEndpoints: ({ kind, ids }) => void changes.push(`${kind} ${ids}`),
    signal: stop.signal,
    now: () => clock,
  };
  return { options, forwarded, changes, saved };
}

const anEndpoint = (id: string, at: number): SandboxEndpoint => ({
  id,
  createdAt: new Date(at).toISOString(),
});
const aDelivery = (webhookId: string, at: number): SandboxDelivery => ({
  id: idAt(at, 1),
  webhookId,
  eventId: 'evt_1',
  eventType: 'message.received',
  state: 'attempted',
  request: { headers: {}, body: '{}' },
});

describe('following a sandbox', () => {
  it('includes an endpoint that is created meanwhile, with all its deliveries, and drops a deleted one', async () => {
    const first = anEndpoint('whk_1', NOW - HOUR);
    const second = anEndpoint('whk_2', NOW + 1000);
    const before = aDelivery('whk_1', NOW - 1);
    const after = aDelivery('whk_1', NOW + 1);
    const ofSecond = aDelivery('whk_2', NOW + 1001);
    const { options, forwarded, changes } = aSandbox([
      { endpoints: [first], deliveries: [before, after] },
      { endpoints: [first, second], deliveries: [before, after, ofSecond] },
      { endpoints: [second], deliveries: [ofSecond] },
    ]);
    await expect(follow(options)).rejects.toThrow('aborted');
    expect(forwarded).toEqual([after.id, ofSecond.id]);
    expect(changes).toEqual(['start whk_1', 'added whk_2', 'gone whk_1']);
  });

  it('saves its position after each delivery and each poll', async () => {
    const deliveries = [aDelivery('whk_1', NOW + 1), aDelivery('whk_1', NOW + 2)];
    const { options, saved } = aSandbox([{ endpoints: [anEndpoint('whk_1', NOW - HOUR)], deliveries }]);
    expect(await follow({ ...options, once: true })).toEqual([]);
    expect(saved[0]).toMatchObject({ lookedAt: NOW });
    expect(saved.map(({ positions }) => positions.get('whk_1')?.forwarded.size)).toEqual([0, 1, 2]);
  });

  it('reports, with --once, endpoints whose deliveries are not ready', async () => {
    const waiting: SandboxDelivery = { ...aDelivery('whk_1', NOW + 1), state: 'waiting', request: undefined };
    const { options, forwarded } = aSandbox([
      { endpoints: [anEndpoint('whk_1', NOW - HOUR), anEndpoint('whk_2', NOW)], deliveries: [waiting] },
    ]);
    expect(await follow({ ...options, once: true })).toEqual(['whk_1']);
    expect(forwarded).toEqual([]);
  });
});
