import { VirtualClock } from 'aws-local/test/virtual-clock.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type DeliveryId, newId } from '../../../functions/aws/ids.ts';
import type { Delivery } from '../../../functions/delivery/delivery.ts';
import { LANES, type Lane } from '../../../functions/delivery/lanes.ts';
import {
  LONG_BACKLOG,
  RESENT_IN_BACKLOG,
  type ReconcilePorts,
  reconcileDeliveries,
} from '../../../functions/delivery/reconcile.ts';
import {
  DEFAULT_GRACE_SECONDS,
  EXPIRY_SECONDS,
  RECONCILE_EVERY_SECONDS,
} from '../../../functions/delivery/timing.ts';
import { DUE_SHARDS, type DueState, keys } from '../../../functions/tenancy/keys.ts';
import { aDelivery, anEndpoint, later, NOW, seconds } from '../../builders.ts';
import { type Gate, interposed } from '../../doubles/interposed.ts';
import { MemoryEndpoints, memoryDeliveries } from '../../doubles/memory-deliveries.ts';
import { MemoryLanes } from '../../doubles/memory-lanes.ts';
import { refuse } from '../../doubles/memory-queue.ts';
import { recordedLog } from '../../doubles/recorded-log.ts';

const GRACE = DEFAULT_GRACE_SECONDS;
const LOOKAHEAD = 1.5 * RECONCILE_EVERY_SECONDS;
/** A run that has time for everything. */
const IN_FULL = () => true;

// Few enough for a test to exceed them.
Object.assign(RESENT_IN_BACKLOG, { ofOrganization: 2, inAll: 50 });

const inSeconds = (count: number): Date => later(NOW, seconds(count));

/**
 * The reconciler over stores and queues in memory. `runWith` replaces some of its ports.
 * @param terms.pageSize rows of a page of the due index, at most
 * @param terms.isSharded whether deliveries are in all shards of the due index, and not in one
 */
function aReconciler({
  pageSize = Number.POSITIVE_INFINITY,
  isSharded = false,
}: {
  pageSize?: number;
  isSharded?: boolean;
} = {}) {
  const clock = new VirtualClock();
  const log = recordedLog();
  const endpoints = new MemoryEndpoints();
  endpoints.service.pass = async (operation, input, answer) => {
    if (operation === 'Query' && input.Limit !== undefined) input.Limit = Math.min(input.Limit, pageSize);
    return answer();
  };
  const deliveries = memoryDeliveries(endpoints);
  const due = deliveries.dueIndex;
  const lanes = new MemoryLanes({ now: clock.now, visibilitySeconds: 30, maxReceives: 100 });

  const runWith = (replaced: Partial<ReconcilePorts> = {}) =>
    reconcileDeliveries({ due, queues: lanes, log, now: clock.now, ...replaced }, { graceSeconds: GRACE });
  /** The reconciler over an index whose calls pass a gate. */
  const runGated = (gate: Gate) => runWith({ due: interposed('due', due, gate) });
  /** The reconciler over queues with so many messages in one. */
  const runBehind = (backlog: (lane: Lane) => Promise<number>) =>
    runWith({ queues: { send: (...messages) => lanes.send(...messages), backlog } });

  function newDeliveryId(born: Date): DeliveryId {
    let id = newId('dlv', born);
    while (!isSharded && keys.dueOf('parked', id) !== keys.due('parked', 0)) id = newId('dlv', born);
    return id;
  }

  /** Puts a delivery into the due index. */
  async function put(
    state: DueState,
    dueAt: Date,
    changes: Partial<Delivery> & { born?: Date } = {},
  ): Promise<Delivery> {
    const { born = NOW, ...fields } = changes;
    const delivery = aDelivery({
      id: newDeliveryId(born),
      status: 'retrying',
      attempts: 1,
      ...(state === 'parked' ? { nextRetryAt: dueAt.toISOString(), parked: true } : {}),
      ...fields,
    });
    await deliveries.add(delivery);
    deliveries.putDue(delivery, state, dueAt);
    return delivery;
  }

  return {
    clock,
    log,
    deliveries,
    due,
    lanes,
    runWith,
    runGated,
    runBehind,
    run: runWith(),
    put,
    /** The time at which the next message of the retry queue becomes visible. */
    nextVisible: () => lanes.queues.retry.nextVisibleAt(),
    sent: () => lanes.queues.retry.deliveryMessages.map(({ id }) => id),
  };
}

/** Lets a call fail. */
const failing =
  (failed: string): Gate =>
  async (call) => {
    if (call === failed) throw new Error('the table is throttled');
  };
const watched = (until: Date) => ({ state: 'watched', dueAt: until.toISOString() });

describe('parked delivery', () => {
  it('is sent with the delay until it is due, and is watched from then on', async () => {
    const { run, put, deliveries, nextVisible } = aReconciler();
    const delivery = await put('parked', inSeconds(40));

    expect(await run(IN_FULL)).toMatchObject({ resumed: 1, resent: 0, refused: 0, complete: true });

    expect(nextVisible()).toEqual(inSeconds(40));
    expect(deliveries.dueOf(delivery)).toEqual(watched(inSeconds(40 + GRACE)));
    expect(await deliveries.find(delivery)).not.toHaveProperty('parked');
  });

  it('is sent at once when it is late, and the run reports the delay', async () => {
    const { run, put, deliveries, nextVisible } = aReconciler();
    await put('parked', inSeconds(-20));
    const delivery = await put('parked', inSeconds(-75));

    expect(await run(IN_FULL)).toMatchObject({ resumed: 2, latestSeconds: 75 });

    expect(nextVisible()).toEqual(inSeconds(0));
    expect(deliveries.dueOf(delivery)).toEqual(watched(inSeconds(GRACE)));
  });

  it('stays due when the queue refuses it or cannot be reached, and is sent by the next run', async () => {
    const { run, runWith, put, lanes, sent, deliveries, log } = aReconciler();
    const delivery = await put('parked', inSeconds(0));
    const before = deliveries.dueOf(delivery);
    lanes.queues.retry.refuse(1);

    expect(await run(IN_FULL)).toMatchObject({ resumed: 0, refused: 1 });
    const down = runWith({
      queues: {
        send: async (_lane, messages) => refuse(messages),
        backlog: async () => 0,
      },
    });
    expect(await down(IN_FULL)).toMatchObject({ resumed: 0, refused: 1 });

    expect(deliveries.dueOf(delivery)).toEqual(before);
    expect(log.entries).toMatchObject([{ code: 'REMINDERS_NOT_SENT' }, { code: 'REMINDERS_NOT_SENT' }]);
    expect(await run(IN_FULL)).toMatchObject({ resumed: 1, refused: 0 });
    expect(sent()).toEqual([delivery.id]);
  });

  it('is sent twice when a run ends before it has updated the index', async () => {
    const { run, runGated, put, sent, deliveries, log } = aReconciler();
    const delivery = await put('parked', inSeconds(0));

    await runGated(failing('due.postpone'))(IN_FULL);
    expect(log.entries).toMatchObject([{ level: 'warn', fields: { deliveryId: delivery.id } }]);
    await run(IN_FULL);

    expect(sent()).toEqual([delivery.id, delivery.id]);
    expect(deliveries.dueOf(delivery)).toEqual(watched(inSeconds(GRACE)));
  });
});

describe('delivery whose message was lost', () => {
  it('gets another one when it is late by the grace period, and is watched again', async () => {
    const { run, put, clock, sent, deliveries } = aReconciler();
    const delivery = await put('watched', inSeconds(GRACE));
    expect(await run(IN_FULL)).toMatchObject({ resent: 0 });
    clock.elapse(GRACE);

    expect(await run(IN_FULL)).toMatchObject({ resent: 1, complete: true });

    expect(sent()).toEqual([delivery.id]);
    expect(deliveries.dueOf(delivery)).toEqual(watched(inSeconds(2 * GRACE)));
  });

  it('gets few messages in all when they are lost again and again', async () => {
    const { run, put, clock, lanes } = aReconciler();
    const delivery = await put('watched', inSeconds(GRACE));
    let sent = 0;

    for (let minute = 0; minute < 60 * 24 * 2; minute += 5) {
      sent += (await run(IN_FULL)).resent;
      for (const queue of lanes.all) while (queue.lose(0));
      clock.elapse(300);
    }

    expect(sent).toBeGreaterThan(5);
    expect(sent).toBeLessThan(16);
    expect(delivery.status).toBe('retrying');
  });

  describe('with a long backlog in a queue', () => {
    const { ofOrganization, inAll } = RESENT_IN_BACKLOG;

    function behindABacklog(options: Parameters<typeof aReconciler>[0] = {}, long: Lane = 'fresh') {
      const reconciler = aReconciler(options);
      const backlogs = new Map<Lane, number>([[long, LONG_BACKLOG + 1]]);
      const run = reconciler.runBehind(async (lane) => backlogs.get(lane) ?? 0);
      return { ...reconciler, run, backlogs };
    }

    it.each(LANES)(
      '%s is resent up to the share of its organization, the longest due first',
      async (long) => {
        const { run, put, sent, deliveries, clock, backlogs } = behindABacklog({}, long);
        const { orgId } = anEndpoint();
        const young = await put('watched', inSeconds(-1), { orgId });
        const old: Delivery[] = [];
        for (let count = 0; count < ofOrganization; count += 1)
          old.push(await put('watched', inSeconds(-2 - count), { orgId }));
        const other = await put('watched', inSeconds(0));

        expect(await run(IN_FULL)).toMatchObject({ deferred: 1, resent: ofOrganization + 1 });
        expect(sent().toSorted()).toEqual([...old, other].map(({ id }) => id).toSorted());
        expect(deliveries.dueOf(young)).toEqual({ ...watched(inSeconds(60)), isDeferred: true });

        backlogs.clear();
        clock.elapse(GRACE);
        expect(await run(IN_FULL)).toMatchObject({ deferred: 0, resent: ofOrganization + 2 });
      },
    );

    it('is resent up to the limit of all organizations, for any size of a page', async () => {
      const { run, put } = behindABacklog({ pageSize: 20 });
      for (let count = 0; count < inAll + 7; count += 1) await put('watched', inSeconds(0));

      expect(await run(IN_FULL)).toMatchObject({ deferred: 7, resent: inAll });
    });

    it('is resent in its turn while the backlog lasts', async () => {
      const { run, put, sent, clock } = behindABacklog();
      const { orgId } = anEndpoint();
      for (let count = 0; count < 40; count += 1) await put('watched', inSeconds(0), { orgId });

      let deferred = 0;
      for (let runs = 0; runs < 40; runs += 1) {
        const done = await run(IN_FULL);
        expect(done).toMatchObject({ resent: ofOrganization });
        deferred += done.deferred;
        clock.elapse(60);
      }

      expect(new Set(sent()).size).toBe(40);
      // Each to its own run: to the next one, all that wait would be written in every run.
      expect(deferred).toBeLessThan(4 * 40);
    });

    it('does not expire before its message was resent', async () => {
      const { run, put, sent, clock, deliveries } = behindABacklog();
      const { orgId } = anEndpoint();
      const all: Delivery[] = [];
      for (let count = 0; count <= ofOrganization; count += 1)
        all.push(await put('watched', inSeconds(0), { orgId }));
      expect(await run(IN_FULL)).toMatchObject({ deferred: 1, resent: ofOrganization });
      const deferred = all.find(({ id }) => !sent().includes(id));
      if (deferred === undefined) throw new Error('one was to be deferred');
      clock.elapse(EXPIRY_SECONDS + 1);

      expect(await run(IN_FULL)).toMatchObject({ deferred: 0, resent: 1, expired: ofOrganization });
      expect(sent()).toContain(deferred.id);
      expect(await deliveries.find(deferred)).toMatchObject({ status: 'retrying' });

      clock.elapse(6 * 3600);
      expect(await run(IN_FULL)).toMatchObject({ deferred: 0, resent: 0, expired: 1 });
    });
  });

  it('is resent when the length of the backlog cannot be read', async () => {
    const { runBehind, put, sent } = aReconciler();
    const delivery = await put('watched', inSeconds(0));
    const run = runBehind(() => Promise.reject(new Error('the queue is down')));

    expect(await run(IN_FULL)).toMatchObject({ resent: 1 });
    expect(sent()).toEqual([delivery.id]);
  });
});

describe('delivery that is still open after three days', () => {
  const born = inSeconds(-EXPIRY_SECONDS - 1);

  it('ends as expired with an error in the log, and leaves the index', async () => {
    const { run, put, sent, deliveries, log } = aReconciler();
    const delivery = await put('watched', inSeconds(-1), { born });

    expect(await run(IN_FULL)).toMatchObject({ expired: 1, resent: 0 });

    expect(await deliveries.find(delivery)).toMatchObject({ status: 'skipped', terminalReason: 'expired' });
    expect(deliveries.due).toEqual([]);
    expect(sent()).toEqual([]);
    expect(log.entries).toMatchObject([{ level: 'error', fields: { deliveryId: delivery.id } }]);
  });

  it('is left to the worker that is attempting it', async () => {
    const { run, put, clock, deliveries } = aReconciler();
    const lease = { token: 'another-worker', until: inSeconds(25).getTime() };
    const delivery = await put('watched', inSeconds(-1), { born, lease });

    expect(await run(IN_FULL)).toMatchObject({ expired: 0, resent: 0 });
    expect(await deliveries.find(delivery)).toEqual(delivery);

    clock.elapse(60);
    expect(await run(IN_FULL)).toMatchObject({ expired: 1 });
  });
});

it('an unreadable shard of the due index does not delay the other shards, and fails the run', async () => {
  const { runWith, put, due, sent, log } = aReconciler({ isSharded: true });
  const first = await put('parked', inSeconds(0));
  const isBroken = (state: string, shard: number) =>
    state === 'parked' && keys.due('parked', shard) === keys.dueOf('parked', first.id);
  const run = runWith({
    due: {
      ...due,
      find: async (state, shard, ...search) => {
        if (isBroken(state, shard)) throw new Error('the table is throttled');
        return due.find(state, shard, ...search);
      },
    },
  });
  const others: string[] = [];
  for (let count = 0; count < 100; count += 1) {
    const parked = await put('parked', inSeconds(0));
    if (keys.dueOf('parked', parked.id) !== keys.dueOf('parked', first.id)) others.push(parked.id);
    others.push((await put('watched', inSeconds(0))).id);
  }

  await expect(run(IN_FULL)).rejects.toThrow('the table is throttled');

  expect(sent().toSorted()).toEqual(others.toSorted());
  expect(log.entries).toMatchObject([{ level: 'error', fields: { state: 'parked' } }]);
});

it('an unreadable row of the due index does not delay the other rows of its page, and fails the run', async () => {
  const { runWith, put, due, sent, log } = aReconciler();
  const late = await put('watched', inSeconds(-1));
  const row = { pk: 'whk_x', sk: 'dlv_x', error: new Error('no event') };
  const run = runWith({
    due: {
      ...due,
      find: async (state, shard, ...search) => {
        const page = await due.find(state, shard, ...search);
        return state === 'watched' && shard === 0 ? { ...page, unreadable: [row] } : page;
      },
    },
  });

  await expect(run(IN_FULL)).rejects.toThrow('no event');

  expect(sent()).toEqual([late.id]);
  expect(log.entries).toMatchObject([{ code: 'DUE_ROW_UNREADABLE', fields: { pk: 'whk_x', sk: 'dlv_x' } }]);
});

it('an expired delivery that cannot be ended does not delay the others, and is due again', async () => {
  const { run, runGated, put, sent, log } = aReconciler();
  const expired = await put('watched', inSeconds(-2), { born: inSeconds(-EXPIRY_SECONDS - 1) });
  const late = await put('watched', inSeconds(-1));

  expect(await runGated(failing('due.expire'))(IN_FULL)).toMatchObject({ expired: 0, resent: 1 });

  expect(sent()).toEqual([late.id]);
  expect(log.entries).toMatchObject([{ level: 'warn', fields: { deliveryId: expired.id } }]);
  expect(await run(IN_FULL)).toMatchObject({ expired: 1 });
});

/** Time for so many pages. */
function timeFor(pages: number): () => boolean {
  let left = pages;
  return () => {
    left -= 1;
    return left >= 0;
  };
}

describe('reconciler run', () => {
  it('searches the index once per shard and page of due entries, independent of all others', async () => {
    const ports = aReconciler({ isSharded: true });
    let finds = 0;
    const run = ports.runGated(async (call, stage) => {
      if (call === 'due.find' && stage === 'calling') finds += 1;
    });

    // A history that has ended, retries that are far off, and messages that are not late.
    for (let count = 0; count < 300; count += 1) {
      const ended = await ports.put('watched', inSeconds(600));
      await ports.deliveries.skip(ended, 'endpoint_deleted', inSeconds(0));
      await ports.put('parked', inSeconds(LOOKAHEAD + 600));
      await ports.put('watched', inSeconds(600));
    }
    await run(IN_FULL);
    expect(finds).toBe(2 * DUE_SHARDS);

    for (let count = 0; count < 200; count += 1) await ports.put('parked', inSeconds(0));
    const before = finds;
    await run(IN_FULL);
    expect(finds - before).toBeLessThanOrEqual(2 * DUE_SHARDS + 200 / 10);
  });

  it('leaves each delivery once in a queue or in the index, for any refusal and time', async () => {
    const entries = fc.array(
      fc.record({
        state: fc.constantFrom('parked' as const, 'watched' as const),
        dueIn: fc.integer({ min: -2_000, max: 200 }),
      }),
      { maxLength: 40 },
    );
    const runs = fc.array(fc.record({ pages: fc.nat({ max: 6 }), refusals: fc.nat({ max: 15 }) }), {
      maxLength: 6,
    });
    await fc.assert(
      fc.asyncProperty(entries, runs, async (all, cuts) => {
        const { run, put, lanes, sent, deliveries } = aReconciler({ pageSize: 7 });
        for (const { state, dueIn } of all) await put(state, inSeconds(dueIn));
        for (const { pages, refusals } of cuts) {
          lanes.queues.retry.refuse(refusals);
          await run(timeFor(pages));
          expect(deliveries.due).toHaveLength(all.length);
        }
        for (let refused = 1; refused > 0; ) ({ refused } = await run(IN_FULL));

        const isDue = ({ state, dueIn }: (typeof all)[number]) =>
          state === 'parked' ? dueIn <= LOOKAHEAD : dueIn <= 0;
        expect(sent().length).toBe(new Set(sent()).size);
        expect(sent()).toHaveLength(all.filter(isDue).length);
      }),
      { numRuns: 60 },
    );
  });
});
