import { describe, expect, it } from 'vitest';
import type { Delivery } from '../../../functions/delivery/delivery.ts';
import { LANES, type Lane } from '../../../functions/delivery/lanes.ts';
import { LONG_BACKLOG, RESENT_IN_BACKLOG } from '../../../functions/delivery/reconcile.ts';
import { EXPIRY_SECONDS } from '../../../functions/delivery/timing.ts';
import { anEndpoint } from '../../builders.ts';
import { refuse } from '../../doubles/memory-queue.ts';
import { aReconciler, GRACE, IN_FULL, inSeconds } from './reconciler-fixture.ts';

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
    const { run, runWith, put, due, sent, deliveries, log } = aReconciler();
    const delivery = await put('parked', inSeconds(0));
    const failing = runWith({
      due: {
        find: (...search) => due.find(...search),
        expire: (...expiry) => due.expire(...expiry),
        async postpone() {
          throw new Error('the table is throttled');
        },
      },
    });

    await failing(IN_FULL);
    expect(log.entries).toMatchObject([{ level: 'warn', fields: { deliveryId: delivery.id } }]);
    await run(IN_FULL);

    expect(sent()).toEqual([delivery.id, delivery.id]);
    expect(deliveries.dueOf(delivery)).toEqual(watched(inSeconds(GRACE)));
  });

  it('keeps its place in the index when a worker has moved it meanwhile', async () => {
    const { runWith, put, lanes, deliveries } = aReconciler();
    const delivery = await put('parked', inSeconds(0));
    const run = runWith({
      queues: {
        async send(lane, messages) {
          deliveries.putDue(delivery, 'parked', inSeconds(960));
          return lanes.send(lane, messages);
        },
        backlog: async () => 0,
      },
    });

    await run(IN_FULL);

    expect(deliveries.dueOf(delivery)).toEqual({ state: 'parked', dueAt: inSeconds(960).toISOString() });
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

  describe.each(LANES)('with a long backlog in the %s queue', (long) => {
    const { ofOrganization, inAll } = RESENT_IN_BACKLOG;

    function behindABacklog(options: Parameters<typeof aReconciler>[0] = {}) {
      const reconciler = aReconciler(options);
      const backlogs = new Map<Lane, number>([[long, LONG_BACKLOG + 1]]);
      const run = reconciler.runWith({
        queues: {
          send: (...message) => reconciler.lanes.send(...message),
          backlog: async (lane) => backlogs.get(lane) ?? 0,
        },
      });
      return { ...reconciler, run, backlogs };
    }

    it('is resent up to the share of its organization, the longest due first', async () => {
      const { run, put, sent, deliveries, clock, backlogs } = behindABacklog();
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
    });

    it('is resent up to the limit of all organizations, for any size of a page', async () => {
      const { run, put } = behindABacklog({ pageSize: 20 });
      for (let count = 0; count < inAll + 7; count += 1) await put('watched', inSeconds(0));

      expect(await run(IN_FULL)).toMatchObject({ deferred: 7, resent: inAll });
    });

    it('is resent in its turn while the backlog lasts', async () => {
      const { run, put, sent, clock } = behindABacklog();
      const { orgId } = anEndpoint();
      for (let count = 0; count < 40; count += 1) await put('watched', inSeconds(0), { orgId });

      for (let runs = 0; runs < 40; runs += 1) {
        expect(await run(IN_FULL)).toMatchObject({ resent: ofOrganization });
        clock.elapse(60);
      }

      expect(new Set(sent()).size).toBe(40);
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
    const { runWith, put, lanes, sent } = aReconciler();
    const delivery = await put('watched', inSeconds(0));
    const run = runWith({
      queues: {
        send: (...message) => lanes.send(...message),
        async backlog() {
          throw new Error('the queue is down');
        },
      },
    });

    expect(await run(IN_FULL)).toMatchObject({ resent: 1 });
    expect(sent()).toEqual([delivery.id]);
  });

  it('is deferred by a backlog, while a parked one is not', async () => {
    const { runWith, put, lanes } = aReconciler();
    await put('parked', inSeconds(0));
    const run = runWith({
      queues: { send: (...message) => lanes.send(...message), backlog: async () => LONG_BACKLOG + 1 },
    });

    expect(await run(IN_FULL)).toMatchObject({ resumed: 1, deferred: 0 });
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
