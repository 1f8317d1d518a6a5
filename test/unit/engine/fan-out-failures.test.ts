import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Delivery, Reminder } from '../../../functions/domain/delivery.ts';
import type { OutboxEvent } from '../../../functions/domain/events.ts';
import type { FanOutPorts } from '../../../functions/engine/fan-out.ts';
import { anEvent } from '../../builders.ts';
import { MemoryDeliveries } from '../../doubles/memory-deliveries.ts';
import { MemoryEndpoints } from '../../doubles/memory-endpoints.ts';
import { aFanOut, events, ours, tenant } from './a-fan-out.ts';

describe('a fan-out that fails in part', () => {
  /** Events whose delivery to the endpoint cannot be added. */
  const failingFor = (failing: OutboxEvent[], deliveries: FanOutPorts['deliveries']) => ({
    async add(delivery: Delivery) {
      if (failing.some(({ id }) => id === delivery.eventId)) throw new Error('the table is throttled');
      return deliveries.add(delivery);
    },
  });

  it('reports the events whose delivery could not be added, and goes on with the others', async () => {
    const batch = events(10);
    const failing = batch.filter((_, index) => index === 2 || index === 7);
    const store = new MemoryDeliveries(new MemoryEndpoints());
    const { run, sent, log } = aFanOut([ours()], { deliveries: failingFor(failing, store) });

    expect(await run(batch)).toEqual(failing);

    const others = batch.filter((event) => !failing.includes(event)).map(({ id }) => id);
    expect(store.every.map(({ eventId }) => eventId)).toEqual(others);
    expect(sent.map(({ eventId }) => eventId)).toEqual(others);
    expect(log.entries.map(({ fields }) => fields.eventId)).toEqual(failing.map(({ id }) => id));
  });

  it('reports all events of an organization whose endpoints cannot be read, and no others', async () => {
    const endpoint = ours();
    const ourEvents = events(2);
    const theirEvents = [anEvent(), anEvent()];
    const { run, sent } = aFanOut([], {
      subscribers: {
        async all(orgId) {
          if (orgId !== tenant.orgId) throw new Error('the table is throttled');
          return [endpoint];
        },
      },
    });

    const failed = await run([...ourEvents, ...theirEvents]);

    expect(new Set(failed)).toEqual(new Set(theirEvents));
    expect(sent.map(({ eventId }) => eventId)).toEqual(ourEvents.map(({ id }) => id));
  });

  it('reports exactly the events some of whose reminders the queue refused', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 1, max: 3 }),
        fc.infiniteStream(fc.boolean()),
        async (eventCount, endpointCount, refusals) => {
          const refused: Reminder[] = [];
          const queue = {
            async send(reminders: readonly Reminder[]) {
              refused.push(...reminders.filter(() => refusals.next().value));
              return refused;
            },
          };
          const { run } = aFanOut(
            Array.from({ length: endpointCount }, () => ours()),
            { queue },
          );
          const batch = events(eventCount);

          const failed = await run(batch);

          const concerned = new Set(refused.map(({ eventId }) => eventId));
          expect(new Set(failed.map(({ id }) => id))).toEqual(concerned);
          expect(failed).toHaveLength(concerned.size);
        },
      ),
      { numRuns: 50 },
    );
  });

  it('reports the events with open deliveries when the queue is down, and not those without', async () => {
    const disabled = ours({ status: 'auto_disabled' });
    const queue = {
      async send(): Promise<Reminder[]> {
        throw new Error('the queue is down');
      },
    };
    const { run, deliveries } = aFanOut([ours(), disabled], { queue });
    const open = events(3);
    const skippedOnly = anEvent({ tenant, onlyTo: disabled.id });

    expect(await run([...open, skippedOnly])).toEqual(open);

    expect(deliveries.every).toHaveLength(7);
  });

  it('makes up for everything when it is repeated', async () => {
    const batch = events(4);
    let broken = true;
    const { run, deliveries, sent } = aFanOut([ours(), ours()], {
      queue: {
        async send(reminders) {
          if (broken) throw new Error('the queue is down');
          sent.push(...reminders);
          return [];
        },
      },
    });
    const failed = await run(batch);
    broken = false;

    expect(await run(failed)).toEqual([]);

    expect(deliveries.every).toHaveLength(8);
    expect(sent).toHaveLength(8);
  });
});
