import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { DeliveryStatus } from '../../../functions/domain/delivery.ts';
import type { EventType, OutboxEvent } from '../../../functions/domain/events.ts';
import { deriveDeliveryId } from '../../../functions/domain/ids.ts';
import { aDelivery, anEndpoint, later, NOW, seconds } from '../../builders.ts';
import { casesOf } from '../../support/cases.ts';
import { aRedelivery, type TestRedelivery } from './a-redelivery.ts';

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
    for (const { status, redeliveryOf, eventId } of made)
      expect([status, redeliveryOf]).toEqual(['pending', deriveDeliveryId(eventId, test.endpoint.id)]);
    expect(await test.job(job)).toMatchObject({
      status: 'done',
      what: 'missing',
      examined: 7,
      redelivered: 4,
      eventTypes: { 'conversation.created': 4 },
      firstEventAt: before.createdAt,
    });
  });

  it('shows an event of before the registration as skipped, and its redelivery', async () => {
    const test = aRedelivery({ endpoint: endpointOfTypes() });
    const event = await test.happened(3000);
    await test.started(MISSING);
    await test.run();

    const id = deriveDeliveryId(event.id, test.endpoint.id);
    expect(await test.store.find({ id, webhookId: test.endpoint.id, generation: 0 })).toMatchObject({
      status: 'skipped',
      terminalReason: 'not_subscribed',
      attempts: 0,
      terminalAt: NOW.toISOString(),
    });
  });

  it('leaves an event to the fan-out that delivers it, and is not repeated by one that is late', async () => {
    const test = aRedelivery({ endpoint: endpointOfTypes() });
    const [early, late] = [await test.happened(5), await test.happened(4)];
    const statuses = test.worker(async (call, stage) => {
      // The fan-out adds the delivery after the job has looked for it.
      if (call === 'deliveries.statuses' && stage === 'answering') await fanOut(test, early, 'pending');
    });
    const job = await test.started(MISSING);
    await test.run(statuses);

    expect((await test.made(job)).map(({ eventId }) => eventId)).toEqual([late.id]);
    expect(await fanOut(test, late, 'pending')).toBe('exists');
  });

  it('resends nothing that has arrived by an earlier job', async () => {
    const test = aRedelivery({ endpoint: endpointOfTypes() });
    const [arrived, failed] = [await test.happened(100), await test.happened(90)];
    const first = await test.started(MISSING);
    await test.run();
    for (const delivery of await test.made(first))
      await (delivery.eventId === arrived.id ? test.arrives(delivery) : test.exhausts(delivery));
    test.clock.elapse(60);

    const second = await test.started(MISSING);
    await test.run();

    expect((await test.made(second)).map(({ eventId }) => eventId)).toEqual([failed.id]);
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
        fc.integer({ min: 1, max: 20 }),
        async (history, crashes, roundDeliveries) => {
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
          }, roundDeliveries);
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
