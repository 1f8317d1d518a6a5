import { describe, expect, it } from 'vitest';
import { deriveJobDeliveryId } from '../../../functions/aws/ids.ts';
import { anEndpoint, aSandboxTenant, later, NOW, seconds } from '../../builders.ts';
import { aRedelivery, LEASE_SECONDS, SHORTEST_ROUND, type TestRedelivery } from '../delivery/a-redelivery.ts';

const many = (had: TestRedelivery['had'], count: number) =>
  Promise.all(Array.from({ length: count }, (_, index) => had('exhausted', 3000 - index)));

describe('redelivery job', () => {
  it('creates one delivery for each failed one in its time range, and sends its message', async () => {
    const test = aRedelivery();
    const { had, started, run, made, job, reminded, endpoint } = test;
    const failed = [await had('exhausted', 60), await had('skipped', 30)];
    for (const status of ['succeeded', 'pending', 'retrying'] as const) await had(status, 20);
    await had('exhausted', 3601);

    const order = await started();
    await run();

    const found = await made(order);
    expect(found).toHaveLength(2);
    for (const delivery of failed)
      expect(found).toContainEqual({
        id: deriveJobDeliveryId(delivery.eventId, endpoint.id, NOW),
        orgId: endpoint.orgId,
        generation: 0,
        webhookId: endpoint.id,
        eventId: delivery.eventId,
        eventType: delivery.eventType,
        status: 'pending',
        attempts: 0,
        attemptLog: [],
        createdAt: NOW.toISOString(),
        redeliveryOf: delivery.id,
        traceId: 'a-trace',
      });
    expect(reminded.map(({ id }) => id).toSorted()).toEqual(found.map(({ id }) => id).toSorted());
    expect(await job(order)).toMatchObject({
      status: 'done',
      examined: 5,
      redelivered: 2,
      finishedAt: expect.any(String),
    });
  });

  it('begins with the oldest delivery', async () => {
    const { had, started, run, reminded, made } = aRedelivery();
    const failed = await many(had, 40);
    const order = await started();
    await run();
    const events = new Map((await made(order)).map(({ id, eventId }) => [id as string, eventId]));
    expect(reminded.map(({ id }) => events.get(id))).toEqual(failed.map(({ eventId }) => eventId));
  });

  it('resends an event once that failed more than once in its time range, on any pages', async () => {
    const { had, started, run, made, job, reminded, slowly } = aRedelivery();
    const first = await had('exhausted', 3000);
    await Promise.all(Array.from({ length: 30 }, (_, index) => had('succeeded', 2000 - index)));
    await had('exhausted', 100, {
      eventId: first.eventId,
      id: deriveJobDeliveryId(first.eventId, first.webhookId, later(NOW, -seconds(100))),
      createdAt: later(NOW, -seconds(100)).toISOString(),
      redeliveryOf: first.id,
    });

    const order = await started();
    await run(slowly());

    expect(await made(order)).toMatchObject([{ redeliveryOf: first.id }]);
    expect(await job(order)).toMatchObject({ examined: 32, redelivered: 1, status: 'done' });
    expect(reminded).toHaveLength(1);
  });

  it('omits events that are too old to be resent', async () => {
    const { had, started, run, made, job } = aRedelivery();
    const days = 86_400;
    await had('exhausted', 31 * days);
    const order = await started({ from: later(NOW, -seconds(60 * days)).toISOString() });
    expect(order.from).toBe(later(NOW, -seconds(30 * days)).toISOString());
    // A recent redelivery of an old event.
    const { eventId } = await had('succeeded', 31 * days);
    await had('exhausted', 10, {
      eventId,
      id: deriveJobDeliveryId(eventId, order.webhookId, later(NOW, -seconds(10))),
    });
    await run();
    expect(await made(order)).toEqual([]);
    expect(await job(order)).toMatchObject({ status: 'done', examined: 1, redelivered: 0 });
  });

  it('continues in several messages, and counts no delivery twice', async () => {
    const { had, started, run, made, job, worker, clock } = aRedelivery();
    await many(had, 100);
    const order = await started();
    expect(await run(worker(undefined, SHORTEST_ROUND))).toBeGreaterThan(4);
    // No message has had to wait for the previous lease.
    expect(clock.ms - NOW.getTime()).toBeLessThan(seconds(LEASE_SECONDS));
    expect(await made(order)).toHaveLength(100);
    expect(await job(order)).toMatchObject({ status: 'done', examined: 100, redelivered: 100 });
  });

  it('continues in another message when its round has taken long enough', async () => {
    const { had, started, run, made, clock, worker } = aRedelivery();
    await many(had, 60);
    const order = await started();
    const slow = worker(async (call, stage) => {
      if (call === 'endpoints.find' && stage === 'calling') clock.elapse(6);
    });
    expect(await run(slow)).toBeGreaterThan(1);
    expect(await made(order)).toHaveLength(60);
  });

  it.each([
    ['slow', { pace: { is: 'slow', until: later(NOW, seconds(60)).toISOString() } }],
    ['stalled', { pace: { is: 'stalled', until: later(NOW, seconds(60)).toISOString() } }],
    ['slow', {}],
  ] as const)('sends messages to the %s queue, apart from live events (%j)', async (lane, changes) => {
    const { had, started, run, becomes, reminded } = aRedelivery();
    await had('exhausted', 10);
    becomes(changes);
    await started();
    await run();
    expect(reminded).toMatchObject([{ lane }]);
  });

  it('is stopped when its endpoint is disabled or deleted', async () => {
    for (const [changes, reason] of [
      [{ status: 'auto_disabled' as const }, 'endpoint_disabled'],
      [undefined, 'endpoint_deleted'],
    ] as const) {
      const { had, started, run, becomes, made, job } = aRedelivery();
      await had('exhausted', 10);
      const order = await started();
      becomes(changes);
      await run();
      expect(await made(order)).toEqual([]);
      expect(await job(order)).toMatchObject({ status: 'stopped', reason });
    }
  });

  it('creates nothing after it was stopped, but counts the deliveries of the running page', async () => {
    const { had, started, run, jobs, commit, made, job, worker, clock } = aRedelivery();
    await many(had, 100);
    const order = await started();
    let pages = 0;
    const interrupted = worker(async (call, stage) => {
      if (call !== 'endpoints.find' || stage !== 'answering') return;
      pages += 1;
      if (pages === 2) await commit(jobs.stop(order, clock.now()));
    });

    await run(interrupted);

    const found = await made(order);
    expect(pages).toBe(2);
    expect(found.length).toBeLessThan(100);
    expect(await job(order)).toMatchObject({
      status: 'stopped',
      reason: 'cancelled',
      redelivered: found.length,
    });
  });

  it('allows another job of the endpoint once it has ended, and not before', async () => {
    const { had, started, run, job } = aRedelivery();
    await had('exhausted', 10);
    const first = await started();
    const refused = await started();
    expect(await job(refused)).toBeUndefined();
    await run();
    expect(await job(first)).toMatchObject({ status: 'done' });
    expect(await job(await started())).toMatchObject({ status: 'running' });
  });

  it('does nothing in a generation that was deleted by a reset', async () => {
    const tenant = aSandboxTenant();
    const { had, started, run, organizationStates, made } = aRedelivery({
      endpoint: anEndpoint({ orgId: tenant.orgId }),
      generation: tenant.generation,
    });
    organizationStates.makeSandbox(tenant.orgId);
    await had('exhausted', 10);
    const order = await started();
    organizationStates.reset(tenant.orgId);
    expect(await run()).toBe(1);
    expect(await made(order)).toEqual([]);
  });

  it('fails for a message of another type', async () => {
    const { worker, started, messages } = aRedelivery();
    await started();
    const [message] = messages;
    if (message === undefined) throw new Error('there was to be a message');
    await expect(worker()({ ...message, type: 'source.check' })).rejects.toThrow('for a redelivery job');
  });
});
