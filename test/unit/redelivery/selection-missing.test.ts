import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { deriveDeliveryId, newId } from '../../../functions/aws/ids.ts';
import { COMMIT_WINDOW_SECONDS } from '../../../functions/aws/pages.ts';
import type { DeliveryStatus } from '../../../functions/delivery/delivery.ts';
import type { EventType, OutboxEvent } from '../../../functions/events/events.ts';
import { aDelivery, anEndpoint, later, NOW, seconds } from '../../builders.ts';
import { casesOf } from '../../support/cases.ts';
import { aRedelivery, ROUND_SECONDS, SHORTEST_ROUND, type TestRedelivery } from './redelivery-fixture.ts';

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

  it('creates and counts one delivery for each event, for a loss of the worker at any call', async () => {
    const past = fc.record({
      secondsAgo: fc.integer({ min: 1, max: 3000 }),
      delivery: fc.option(
        fc.constantFrom<DeliveryStatus>('pending', 'succeeded', 'exhausted', 'skipped', 'retrying'),
        { nil: undefined },
      ),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(past, { maxLength: 30 }),
        fc.array(fc.integer({ min: 0, max: 60 }), { maxLength: 6 }),
        fc.constantFrom(SHORTEST_ROUND, 1, ROUND_SECONDS),
        async (history, crashes, roundSeconds) => {
          const test = aRedelivery({ endpoint: endpointOfTypes() });
          const wanted: string[] = [];
          for (const { secondsAgo, delivery } of history) {
            const event = await test.happened(secondsAgo);
            if (delivery !== undefined) await fanOut(test, event, delivery);
            if (delivery === undefined || delivery === 'exhausted' || delivery === 'skipped')
              wanted.push(event.id);
          }
          const job = await test.started(MISSING);
          const left = [...crashes];
          let calls = 0;
          const dying = test.worker(async () => {
            test.clock.elapse(0.05);
            if (left[0] === undefined || calls++ < left[0]) return;
            left.shift();
            calls = 0;
            throw new Error('the worker is lost');
          }, roundSeconds);
          await test.run(dying);

          const made = await test.made(job);
          expect(made.map(({ eventId }) => eventId).toSorted()).toEqual(wanted.toSorted());
          expect(new Set(test.reminded.map(({ id }) => id))).toEqual(new Set(made.map(({ id }) => id)));
          expect(await test.job(job)).toMatchObject({
            status: 'done',
            examined: history.length,
            redelivered: wanted.length,
          });
        },
      ),
      { numRuns: casesOf(50, 150) },
    );
  });

  it('ends at its time range, of which later events are not a part', async () => {
    const test = aRedelivery({ endpoint: endpointOfTypes() });
    const [inside] = [await test.happened(100), await test.happened(50), await test.happened(20)];
    const job = await test.started({ ...MISSING, to: later(NOW, -seconds(50)).toISOString() });
    await test.run();
    expect((await test.made(job)).map(({ eventId }) => eventId)).toEqual([inside?.id]);
  });
});
