import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { DeliveryMessage } from '../../../functions/delivery/delivery.ts';
import type { FanOutPorts } from '../../../functions/delivery/fan-out.ts';
import { anEvent, later, NOW, seconds } from '../../builders.ts';
import { MemoryEndpoints, memoryDeliveries } from '../../doubles/memory-deliveries.ts';
import { refuse } from '../../doubles/memory-queue.ts';
import { aFanOut, anOrder, events, ours, owing, tenant } from './fan-out-fixture.ts';

const getEventId = ({ event }: ReturnType<typeof owing>) => event.id;

describe('fan-out that fails in part', () => {
  it('sends the messages of the deliveries that it could add, and reports their event once', async () => {
    const [first, second, third] = [ours(), ours(), ours()];
    const store = memoryDeliveries(new MemoryEndpoints());
    const broken = [first.id, second.id];
    const { run, sent, log } = aFanOut([first, second, third], {
      deliveries: {
        async add(delivery) {
          if (broken.includes(delivery.webhookId)) throw new Error('the table is throttled');
          return store.add(delivery);
        },
      },
    });
    const [event] = events(1);
    if (event === undefined) throw new Error('an event was to be made');

    expect(await run([event])).toEqual([event]);

    expect(sent.map(({ webhookId }) => webhookId)).toEqual([third.id]);
    expect(log.trouble()).toHaveLength(2);
  });

  it('reports all events of an organization whose endpoints cannot be read, and no others', async () => {
    const endpoint = ours();
    const ourEvents = events(2);
    const theirEvents = [owing(anEvent()), owing(anEvent())];
    const { run, sent } = aFanOut([], {
      subscribers: {
        async all(orgId) {
          if (orgId !== tenant.orgId) throw new Error('the table is throttled');
          return [endpoint];
        },
        find: async () => undefined,
      },
    });

    const failed = await run([...ourEvents, ...theirEvents]);

    expect(new Set(failed)).toEqual(new Set(theirEvents));
    expect(sent.map(({ eventId }) => eventId)).toEqual(ourEvents.map(getEventId));
  });

  it('reports exactly the events whose messages the queue refused', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 1, max: 3 }),
        fc.infiniteStream(fc.boolean()),
        async (eventCount, endpointCount, refusals) => {
          const refused: DeliveryMessage[] = [];
          const queues: FanOutPorts['queues'] = {
            async send(_lane, messages) {
              const now = messages.filter(() => refusals.next().value);
              refused.push(...now.map(({ message: deliveryMessage }) => deliveryMessage));
              return refuse(now);
            },
          };
          const { run } = aFanOut(
            Array.from({ length: endpointCount }, () => ours()),
            { queues },
          );
          const batch = events(eventCount);

          const failed = await run(batch);

          const concerned = new Set(refused.map(({ eventId }) => eventId));
          expect(new Set(failed)).toEqual(new Set(batch.filter((work) => concerned.has(getEventId(work)))));
          expect(failed).toHaveLength(concerned.size);
        },
      ),
      { numRuns: 50 },
    );
  });

  it('reports only the events for slow receivers when the slow queue is down', async () => {
    const slow = ours({
      pace: { is: 'slow', until: later(NOW, seconds(60)).toISOString() },
      events: ['ticket.created'],
    });
    const toSlow = owing({ ...anEvent({ tenant, onlyTo: slow.id }), type: 'webhook.test' });
    const { run, log } = aFanOut([ours(), slow], {
      queues: {
        send: async (lane, messages) => (lane === 'slow' ? refuse(messages) : []),
      },
    });

    expect(await run([...events(2), toSlow])).toEqual([toSlow]);

    expect(log.trouble()).toMatchObject([{ level: 'error', fields: { eventId: toSlow.event.id } }]);
  });
});

describe('delivery message of a resent delivery', () => {
  it('is reported when the queue refuses it, and the rest of the batch is not', async () => {
    const unlucky = anOrder();
    const { run, log } = aFanOut([ours()], {
      queues: {
        send: async (_lane, messages) =>
          refuse(
            messages.filter(
              ({ message: deliveryMessage }) => deliveryMessage.id === unlucky.deliveryMessage.id,
            ),
          ),
      },
    });

    expect(await run([...events(2), anOrder(), unlucky, ...events(2)])).toEqual([unlucky]);

    expect(log.trouble()).toMatchObject([
      { level: 'error', fields: { deliveryId: unlucky.deliveryMessage.id } },
    ]);
  });
});
