import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { deriveDeliveryId, deriveJobDeliveryId, newId } from '../../../functions/aws/ids.ts';
import { COMMIT_WINDOW_SECONDS } from '../../../functions/aws/pages.ts';
import type { Delivery, DeliveryStatus } from '../../../functions/delivery/delivery.ts';
import { isFromJob, repeatDelivery } from '../../../functions/delivery/redelivery.ts';
import type { EventType, OutboxEvent } from '../../../functions/events/events.ts';
import { FAILED_STATUSES } from '../../../functions/redelivery/jobs.ts';
import {
  createJobDelivery,
  isWanted,
  listFirstDeliveries,
  selectDeliveries,
} from '../../../functions/redelivery/selection.ts';
import { aDelivery, anEndpoint, aRedeliveryJob, later, NOW, seconds } from '../../builders.ts';
import { aRedelivery, type TestRedelivery } from './redelivery-fixture.ts';

const HALF_AN_HOUR_AGO = later(NOW, -seconds(1800));

/** The delivery that resent the given one half an hour ago. */
const again = (delivery: Delivery) =>
  repeatDelivery(delivery, newId('dlv', HALF_AN_HOUR_AGO), HALF_AN_HOUR_AGO, undefined);

const none = { status: 'done', redelivered: 0 };

/** Runs a job to its end, and lets all its deliveries arrive. @returns the job and its deliveries */
async function done({ started, run, made, arrives, clock }: TestRedelivery) {
  clock.elapse(1);
  const order = await started();
  await run();
  const all = await made(order);
  await Promise.all(all.map(arrives));
  return { order, all };
}

describe('redelivery job', () => {
  it('omits an event that has arrived since by a resent delivery', async () => {
    const test = aRedelivery();
    const [failed, other] = [await test.had('exhausted', 3000), await test.had('exhausted', 2000)];
    await test.arrives(again(failed));
    const { order, all } = await done(test);
    expect(all.map(({ redeliveryOf }) => redeliveryOf)).toEqual([other.id]);
    expect(await test.job(order)).toMatchObject({ status: 'done', examined: 2, redelivered: 1 });
  });

  it.each(['failed', 'missing'] as const)(
    'for what is %s resends what failed again after an earlier job whose worker had a clock ahead',
    async (what) => {
      const test = aRedelivery();
      const event = await test.happened(3000);
      if (what === 'failed') await test.had('exhausted', 3000, { eventId: event.id });
      const first = await test.started({ what });
      test.clock.elapse(5);
      await test.run();
      const [earlier] = await test.made(first);
      if (earlier === undefined) throw new Error('there was to be a delivery');
      await test.exhausts(earlier);

      test.clock.elapse(-4);
      const second = await test.started({ what });
      await test.run();

      expect(await test.job(second)).toMatchObject({ status: 'done', redelivered: 1 });
      expect((await test.made(first)).filter(({ id }) => id !== earlier.id)).toHaveLength(1);
    },
  );

  it.each(['failed', 'missing'] as const)(
    'for what is %s omits an event while the redelivery of an earlier job is open',
    async (what) => {
      const test = aRedelivery();
      const event = await test.happened(3000);
      if (what === 'failed') await test.had('exhausted', 3000, { eventId: event.id });
      const first = await test.started({ what });
      await test.run();
      const [open] = await test.made(first);
      if (open === undefined) throw new Error('there was to be a delivery');

      test.clock.elapse(1);
      const second = await test.started({ what });
      await test.run();
      expect(await test.job(second)).toMatchObject(none);

      await test.exhausts(open);
      test.clock.elapse(1);
      const third = await test.started({ what });
      await test.run();
      expect(await test.made(third)).toMatchObject([{ eventId: event.id, status: 'pending' }]);
    },
  );

  it('omits an event while its single redelivery is open, and resends it when that has failed', async () => {
    const test = aRedelivery();
    const failed = await test.had('exhausted', 3000);
    const single = await test.redelivers(failed);

    const first = await test.started();
    await test.run();
    expect(await test.job(first)).toMatchObject({ ...none, examined: 1 });

    await test.exhausts(single);
    test.clock.elapse(1);
    const second = await test.started();
    await test.run();
    expect(await test.made(second)).toMatchObject([{ eventId: failed.eventId, status: 'pending' }]);
  });

  it('resends an event once when its single redelivery is requested between its reads and writes', async () => {
    const test = aRedelivery();
    const failed = await test.had('exhausted', 3000);
    const job = await test.started();
    let isRequested = false;
    const worker = test.worker(async (call, stage) => {
      if (call !== 'jobs.add' || stage !== 'calling' || isRequested) return;
      isRequested = true;
      await test.redelivers(failed);
    });

    await test.run(worker);

    expect(isRequested).toBe(true);
    expect(await test.made(job)).toEqual([]);
  });

  it.each(['calling', 'answering'])(
    'resends nothing twice when the next job overtakes a stopped one that is %s for its delivery',
    async (overtaken) => {
      const test = aRedelivery();
      await test.had('exhausted', 3000);
      const first = await test.started();
      let isOvertaken = false;
      const worker = test.worker(async (call, stage) => {
        if (call !== 'jobs.add' || stage !== overtaken || isOvertaken) return;
        isOvertaken = true;
        await test.commit(test.jobs.stop(first, test.clock.now()));
        test.clock.elapse(1);
        await test.started();
        await test.run();
      });

      await test.run(worker);

      expect(isOvertaken).toBe(true);
      expect(await test.made(first)).toHaveLength(1);
    },
  );

  it('resends an event that has failed again, and one that only another endpoint has received', async () => {
    const test = aRedelivery();
    const failed = await test.had('exhausted', 3000);
    await test.store.add({ ...again(failed), status: 'exhausted' });
    await test.arrives({ ...again(failed), webhookId: newId('whk', NOW) });
    const { all } = await done(test);
    expect(all.map(({ redeliveryOf }) => redeliveryOf)).toEqual([failed.id]);
  });

  it('counts its own deliveries after its worker was lost, even when they have arrived by then', async () => {
    const test = aRedelivery();
    await Promise.all(Array.from({ length: 20 }, (_, index) => test.had('exhausted', 3000 - index)));
    const order = await test.started();
    let pages = 0;
    const dying = test.worker(async (call, stage) => {
      if (call !== 'jobs.save' || stage !== 'calling') return;
      pages += 1;
      if (pages % 2 === 0) return;
      test.clock.elapse(1);
      await Promise.all((await test.made(order)).map(test.arrives));
      throw new Error('the worker is lost');
    });
    await test.run(dying);
    expect(pages).toBeGreaterThan(2);
    expect(await test.made(order)).toHaveLength(20);
    expect(await test.job(order)).toMatchObject({ status: 'done', examined: 20, redelivered: 20 });
  });
});

const statuses = FAILED_STATUSES;

describe("redelivery job's selection of a page", () => {
  const HOUR = seconds(3600);
  /** Events within the job's time range, and before it. */
  const events = [1, 2, 30, 90, 120].map((minutes) => newId('evt', later(NOW, -seconds(60 * minutes))));
  const anyStatus = fc.constantFrom('pending', 'retrying', 'succeeded', 'exhausted', 'skipped');
  const page = fc.array(fc.record({ event: fc.nat(events.length - 1), status: anyStatus }));
  /** For each event: whether its first delivery is on this page, and its status elsewhere if it is stored. */
  const firsts = fc.array(
    fc.record({ isHere: fc.boolean(), elsewhere: fc.option(anyStatus, { nil: undefined }) }),
    { minLength: events.length, maxLength: events.length },
  );
  const wanted = fc.uniqueArray(fc.constantFrom(...statuses), { minLength: 1 });

  it('is one delivery for each event that failed, unless another page has its first one', () => {
    fc.assert(
      fc.property(page, firsts, wanted, (had, firstOf, asked) => {
        const job = aRedeliveryJob({ statuses: asked });
        const { webhookId } = job;
        const fails = (status: unknown) => asked.some((one) => one === status);
        const isWithin = (event: number) => event < 3;
        const examined = had.map(({ event, status }, index) => {
          const eventId = events[event] ?? expect.fail();
          const isFirst = firstOf[event]?.isHere && had.findIndex((one) => one.event === event) === index;
          const id = deriveJobDeliveryId(eventId, webhookId, later(NOW, -HOUR + index));
          return aDelivery({ eventId, webhookId, status, ...(isFirst ? {} : { id }) });
        });
        const failed = examined.filter(({ status }) => isWanted(job, { status }));
        const firstDeliveries = new Map(
          listFirstDeliveries(job, failed).flatMap(({ id }) => {
            const event = events.findIndex((one) => deriveDeliveryId(one, webhookId) === id);
            const status = examined.find((one) => one.id === id)?.status ?? firstOf[event]?.elsewhere;
            return status === undefined ? [] : [[id, { status }] as const];
          }),
        );

        const selected = selectDeliveries(job, failed, firstDeliveries, NOW);

        for (const [event, eventId] of events.entries()) {
          const own = failed.find((one) => one.eventId === eventId);
          const isFirst = own?.id === deriveDeliveryId(eventId, webhookId);
          const first = firstDeliveries.get(deriveDeliveryId(eventId, webhookId));
          const isElsewhere = !isFirst && isWithin(event) && fails(first?.status);
          expect(selected.filter((one) => one.eventId === eventId)).toEqual(
            own === undefined || isElsewhere ? [] : [own],
          );
        }
      }),
    );
  });

  it('creates deliveries that repeat the examined one, if there is one', () => {
    const job = aRedeliveryJob();
    const { eventId, ...delivery } = aDelivery({ webhookId: job.webhookId, status: 'exhausted' });
    const created = createJobDelivery(job, { ...delivery, eventId }, later(NOW, 1));
    expect(created.redeliveryOf).toBe(delivery.id);
    expect(isFromJob(created)).toBe(true);
    const { eventType } = delivery;
    expect(createJobDelivery(job, { eventId, eventType }, NOW)).not.toHaveProperty('redeliveryOf');
  });
});

const TYPES = ['conversation.created', 'message.received'] as const;
const endpointOfTypes = () => anEndpoint({ events: [...TYPES] });
const MISSING = { what: 'missing' } as const;

/** Adds the first delivery of an event, as the fan-out does. */
const fanOut = ({ endpoint, store, tenant }: TestRedelivery, event: OutboxEvent, status: DeliveryStatus) =>
  store.add(
    aDelivery({
      ...tenant,
      id: deriveDeliveryId(event.id, endpoint.id),
      webhookId: endpoint.id,
      eventId: event.id,
      eventType: event.type,
      status,
    }),
  );

describe('redelivery job for missing events', () => {
  it('resends events of its types that the endpoint has not received, oldest first', async () => {
    const test = aRedelivery({ endpoint: endpointOfTypes() });
    const before = await test.happened(3000);
    const failed = [await test.happened(2900), await test.happened(2800)];
    const [received, pending, retrying] = [
      await test.happened(2700),
      await test.happened(2600),
      await test.happened(2500),
    ];
    const latest = await test.happened(10);
    await test.happened(2000, { type: 'ticket.created' });
    await test.happened(3601);
    for (const [event, status] of [
      [failed[0], 'exhausted'],
      [failed[1], 'skipped'],
      [received, 'succeeded'],
      [pending, 'pending'],
      [retrying, 'retrying'],
    ] as const)
      if (event !== undefined) await fanOut(test, event, status);

    const job = await test.started(MISSING);
    await test.run();

    const expected = [before, ...failed, latest];
    const made = await test.made(job);
    const byId = new Map(made.map((delivery) => [delivery.id as string, delivery]));
    expect(test.reminded.map(({ id }) => byId.get(id)?.eventId)).toEqual(expected.map(({ id }) => id));
    const repeated = new Set(failed.map(({ id }) => id));
    for (const { status, redeliveryOf, eventId } of made)
      expect([status, redeliveryOf]).toEqual([
        'pending',
        repeated.has(eventId) ? deriveDeliveryId(eventId, test.endpoint.id) : undefined,
      ]);
    expect(await test.job(job)).toMatchObject({
      status: 'done',
      what: 'missing',
      examined: 7,
      redelivered: 4,
      eventTypes: { 'conversation.created': 4 },
      firstEventAt: before.createdAt,
    });
  });

  it('leaves a new event to its fan-out, and resends one whose fan-out does not come', async () => {
    const test = aRedelivery({ endpoint: endpointOfTypes() });
    const [fannedOut, missing] = [await test.happened(5), await test.happened(4)];
    const job = await test.started(MISSING);
    const worker = test.worker(async (call, stage) => {
      // The fan-out adds the delivery after the job has looked for it.
      if (call === 'deliveries.states' && stage === 'answering') await fanOut(test, fannedOut, 'pending');
    });
    await test.run(worker);

    expect((await test.made(job)).map(({ eventId }) => eventId)).toEqual([missing.id]);
    expect(test.clock.ms - NOW.getTime()).toBeGreaterThanOrEqual(seconds(COMMIT_WINDOW_SECONDS - 4));
    // A fan-out that comes later sends the event all the same.
    expect(await fanOut(test, missing, 'pending')).toBe('added');
  });

  it('counts no new event that its fan-out is about to deliver, and does not wait for it', async () => {
    const endpoint = { ...endpointOfTypes(), createdAt: later(NOW, -seconds(10)).toISOString() };
    const test = aRedelivery({ endpoint });
    for (const secondsAgo of [100, 12, 5]) await test.happened(secondsAgo);
    const job = await test.started({ ...MISSING, dryRun: true });
    await test.run();
    expect(await test.job(job)).toMatchObject({ status: 'done', examined: 3, redelivered: 2 });
    expect(test.clock.ms - NOW.getTime()).toBeLessThan(seconds(1));
  });

  it('counts its deliveries once when the fan-out adds its own between two rounds', async () => {
    const test = aRedelivery({ endpoint: endpointOfTypes() });
    const events = [await test.happened(100), await test.happened(99)];
    test.attemptsTake(11);
    const job = await test.started(MISSING);
    const [message] = test.messages.splice(0);
    if (message === undefined) throw new Error('there was to be a message');
    await test.worker()(message);
    for (const event of events) await fanOut(test, event, 'succeeded');
    await test.run();

    expect(await test.made(job)).toHaveLength(2);
    expect(await test.job(job)).toMatchObject({ status: 'done', examined: 2, redelivered: 2 });
  });

  it.each(['predecessor', 'replaces'])('passes over what its %s received', async (which) => {
    const before = newId('whk', NOW);
    const disabledAt = NOW.toISOString();
    const succession =
      which === 'predecessor'
        ? { predecessor: { id: before, disabledAt } }
        : { predecessor: { id: newId('whk', NOW), disabledAt }, replaces: [before] };
    const test = aRedelivery({ endpoint: { ...endpointOfTypes(), ...succession } });
    const [received, resent, failed, none] = [
      await test.happened(100),
      await test.happened(99),
      await test.happened(98),
      await test.happened(97),
    ];
    const atPredecessor = (event: OutboxEvent, status: DeliveryStatus) => {
      const delivery = aDelivery({ ...test.tenant, webhookId: before, eventId: event.id, status });
      return test.store.add(delivery).then(() => delivery);
    };
    await atPredecessor(received, 'succeeded');
    const first = await atPredecessor(resent, 'exhausted');
    await test.arrives({ ...first, id: newId('dlv', NOW), redeliveryOf: first.id });
    await atPredecessor(failed, 'exhausted');

    const counted = await test.started({ ...MISSING, dryRun: true });
    await test.run();
    test.clock.elapse(1);
    const job = await test.started(MISSING);
    await test.run();

    expect(await test.job(counted)).toMatchObject({ redelivered: 2 });
    expect((await test.made(job)).map(({ eventId }) => eventId).toSorted()).toEqual([failed.id, none.id]);
  });
  it('counts by type without creating anything in a dry run, for a disabled endpoint too', async () => {
    const endpoint = { ...endpointOfTypes(), status: 'auto_disabled' as const };
    const test = aRedelivery({ endpoint });
    const types: EventType[] = ['message.received', 'conversation.created', 'message.received'];
    const events = await Promise.all(types.map((type, index) => test.happened(1000 - index, { type })));
    await fanOut(test, await test.happened(500), 'succeeded');

    const job = await test.started({ ...MISSING, dryRun: true });
    await test.run();

    expect(await test.job(job)).toMatchObject({
      status: 'done',
      dryRun: true,
      examined: 4,
      redelivered: 3,
      eventTypes: { 'message.received': 2, 'conversation.created': 1 },
      firstEventAt: events[0]?.createdAt,
    });
    expect(test.reminded).toEqual([]);
    const { items } = await test.store.list(test.tenant, endpoint.id, { limit: 100 });
    expect(items).toHaveLength(1);
  });

  it('ends at its time range, of which later events are not a part', async () => {
    const test = aRedelivery({ endpoint: endpointOfTypes() });
    const [inside] = [await test.happened(100), await test.happened(50), await test.happened(20)];
    const job = await test.started({ ...MISSING, to: later(NOW, -seconds(50)).toISOString() });
    await test.run();
    expect((await test.made(job)).map(({ eventId }) => eventId)).toEqual([inside?.id]);
  });
});
