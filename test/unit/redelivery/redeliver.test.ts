import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type DeliveryId,
  deriveDeliveryId,
  deriveJobDeliveryId,
  EndpointId,
  newId,
  parseCreationTime,
} from '../../../functions/aws/ids.ts';
import { computeRedeliveryGroup, LANE_TABLE, LARGEST_GROUP } from '../../../functions/delivery/lanes.ts';
import { buildRound, createSuccessorJob } from '../../../functions/redelivery/jobs.ts';
import { anEndpoint, aSandboxTenant, later, NOW, seconds } from '../../builders.ts';
import { casesOf } from '../../support/cases.ts';
import { aRedelivery, LEASE_SECONDS, SHORTEST_ROUND, type TestRedelivery } from './redelivery-fixture.ts';

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

    const deliveries = await made(order);
    expect(deliveries).toHaveLength(2);
    for (const delivery of failed)
      expect(deliveries).toContainEqual({
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
    expect(reminded.map(({ id }) => id).toSorted()).toEqual(deliveries.map(({ id }) => id).toSorted());
    expect(await job(order)).toMatchObject({
      status: 'done',
      examined: 5,
      redelivered: 2,
      finishedAt: expect.any(String),
    });
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

describe('delivery of a redelivery job', () => {
  it('is newer than all that were created before, and carries the time of its creation', async () => {
    const { had, started, run, reminded, slowly, made } = aRedelivery();
    await many(had, 100);
    const order = await started();
    await run(slowly());
    const times = reminded.map(({ id }) => parseCreationTime(id as DeliveryId).getTime());
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(new Set(times).size).toBeGreaterThan(5);
    for (const { id, createdAt } of await made(order))
      expect(Date.parse(createdAt)).toBe(parseCreationTime(id).getTime());
  });
});

describe('redelivery job whose queue refuses messages', () => {
  it.each([
    ['rounds', 'did not take the next round'],
    ['deliveries', 'delivery messages'],
  ] as const)('of %s continues when its message is received again', async (refused, error) => {
    const { had, started, run, made, job, worker, messages, refuses } = aRedelivery();
    await many(had, 40);
    const order = await started();
    const [message] = messages.splice(0);
    if (message === undefined) throw new Error('there was to be a message');
    refuses(refused);

    await expect(worker(undefined, SHORTEST_ROUND)(message)).rejects.toThrow(error);

    expect(messages).toEqual([]);
    expect(await job(order)).toMatchObject({ status: 'running' });
    refuses(undefined);
    messages.push(message);
    await run(worker(undefined, SHORTEST_ROUND));
    expect(await made(order)).toHaveLength(40);
    expect(await job(order)).toMatchObject({ status: 'done', redelivered: 40 });
  });
});

/** The most deliveries that were waiting at a time. */
const mostOf = (sizes: readonly number[]) => Math.max(0, ...sizes);

describe('redelivery job beside its dispatchers', () => {
  it('sends others when half of the window has been attempted, so that requests are few', async () => {
    const test = aRedelivery({ pageSize: 200 });
    await many(test.had, 60);
    const waiting = test.attemptsTake(0.2);
    const order = await test.started();

    await test.run();

    expect(test.groups).toEqual([LARGEST_GROUP, LARGEST_GROUP, LARGEST_GROUP, 12]);
    expect(mostOf(waiting)).toBe(LARGEST_GROUP);
    expect(await test.job(order)).toMatchObject({ status: 'done', redelivered: 60 });
  });

  it.each(['failed', 'missing'] as const)(
    'never has more waiting than its window, over all rounds and losses of workers (%s)',
    async (what) => {
      await fc.assert(
        fc.asyncProperty(
          fc.constantFrom(1, 3, 16),
          // Seconds of an attempt, one after another, and the attempts of others before them.
          fc.constantFrom(0.1, 1, 11),
          fc.integer({ min: 0, max: 30 }),
          fc.array(fc.integer({ min: 0, max: 60 }), { maxLength: 6 }),
          async (window, secondsEach, before, crashes) => {
            const test = aRedelivery({ pageSize: 200, window });
            if (what === 'failed') await many(test.had, 40);
            else await Promise.all(Array.from({ length: 40 }, (_, index) => test.happened(3000 - index)));
            const waiting = test.attemptsAreInLine(secondsEach, before);
            const order = await test.started({ what });
            const left = [...crashes];
            let calls = 0;
            const dying = test.worker(async () => {
              if (left[0] === undefined || calls++ < left[0]) return;
              left.shift();
              calls = 0;
              throw new Error('the worker is lost');
            });

            await test.run(dying);

            expect(mostOf(waiting)).toBeLessThanOrEqual(window);
            expect(await test.job(order)).toMatchObject({ status: 'done', examined: 40, redelivered: 40 });
            expect(new Set(test.reminded.map(({ id }) => id)).size).toBe(40);
            // Only a lost worker's messages are repeated.
            if (crashes.length === 0) expect(test.reminded).toHaveLength(40);
          },
        ),
        { numRuns: casesOf(15, 100) },
      );
    },
  );

  it.each([1, 3, 16])(
    'makes at most its window of %i when it is stopped meanwhile, and counts all',
    async (most) => {
      for (let stopAt = 1; stopAt <= 40; stopAt += 3) {
        const test = aRedelivery({ pageSize: 200, window: most });
        await many(test.had, 40);
        test.attemptsAreInLine(0.1, 0);
        const order = await test.started();
        let made = 0;
        let madeBefore = 40;
        const stopped = test.worker(async (call, stage) => {
          if (call !== 'jobs.add' || stage !== 'answering') return;
          made += 1;
          if (made !== stopAt) return;
          madeBefore = made;
          await test.commit(test.jobs.stop(order, test.clock.now()));
        });

        await test.run(stopped);

        expect(made - madeBefore).toBeLessThanOrEqual(most);
        expect(await test.job(order)).toMatchObject({ status: 'stopped', redelivered: made });
      }
    },
  );

  it('counts what waits also beyond the page of a later round, when earlier deliveries have failed since', async () => {
    const test = aRedelivery({ pageSize: 1, window: 1 });
    await test.had('exhausted', 100);
    const waiting = test.attemptsTake(30);
    const order = await test.started();
    const [message] = test.messages;
    if (message === undefined) throw new Error('there was to be a message');
    await test.worker()(message);
    await Promise.all(Array.from({ length: 24 }, (_, index) => test.had('exhausted', 200 - index)));

    await test.run();

    expect(mostOf(waiting)).toBe(1);
    expect(await test.job(order)).toMatchObject({ status: 'done', redelivered: 25 });
  });

  it('resends the messages that a lost worker may not have sent, and no others', async () => {
    const test = aRedelivery({ pageSize: 200, window: 3 });
    await many(test.had, 3);
    test.attemptsTake(100);
    await test.started();
    const [message] = test.messages;
    if (message === undefined) throw new Error('there was to be a message');
    const lost = test.worker(async (call) => {
      if (call === 'queues.send') throw new Error('the worker is lost');
    });
    await expect(lost(message)).rejects.toThrow('is lost');
    expect(test.reminded).toHaveLength(0);
    test.clock.elapse(LEASE_SECONDS);
    await test.run();
    expect(test.reminded).toHaveLength(3);
  });
});

describe('window of a redelivery job', () => {
  it('is half the batches of the slow queue, at least one and at most 16', () => {
    const { development, staging, production } = LANE_TABLE.slow.dispatchers;

    expect([development, staging, production].map(computeRedeliveryGroup)).toEqual([5, 8, 16]);
    expect([1, 2, 5, 1000].map(computeRedeliveryGroup)).toEqual([1, 1, 2, LARGEST_GROUP]);
  });
});

describe('the job of a successor', () => {
  it.each([1, 5, 40, 600, 3810])(
    'begins within a minute of its test’s success, after %d s',
    async (after) => {
      const { endpoint, tenant, commit, jobs, messages, had, run, worker, clock, job } = aRedelivery();
      const id = EndpointId.parse(endpoint.id);
      const eventId = newId('evt', NOW);
      const predecessor = { id: newId('whk', NOW), disabledAt: NOW.toISOString() };
      const test = deriveDeliveryId(eventId, id);
      const started = createSuccessorJob(id, predecessor, { test }, { tenant, now: NOW });
      await commit(jobs.start(started));
      messages.push(buildRound(started, 1, NOW));
      const succeededAt = later(NOW, seconds(after));
      let isAdded = false;
      await run(async (message) => {
        if (clock.now() >= succeededAt && !isAdded) {
          isAdded = true;
          await had('succeeded', 0, { id: test, eventId });
        }
        await worker()(message);
      });
      const { status, finishedAt = '' } = (await job(started)) ?? {};
      expect(status).toBe('done');
      const lateMs = Date.parse(finishedAt) - succeededAt.getTime();
      expect(lateMs).toBeGreaterThanOrEqual(0);
      expect(lateMs).toBeLessThanOrEqual(seconds(Math.min(60, 2 + after / 10)));
    },
  );
});
