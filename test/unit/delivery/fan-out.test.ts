import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import type { DeliveryMessage } from '../../../functions/delivery/delivery.ts';
import type { FanOutPorts } from '../../../functions/delivery/fan-out.ts';
import type { Endpoint } from '../../../functions/receivers/endpoint.ts';
import { aDelivery, anEndpoint, anEvent, aTenant, later, NOW, seconds } from '../../builders.ts';
import { MemoryEndpoints, memoryDeliveries } from '../../doubles/memory-deliveries.ts';
import { refuse } from '../../doubles/memory-queue.ts';
import { aFanOut, anOrder, events, ours, owing, tenant } from './fan-out-fixture.ts';

describe('fan-out', () => {
  it('ignores endpoints that have not subscribed, and those of other organizations', async () => {
    const { run, deliveries, sent } = aFanOut([ours({ events: ['message.received'] }), anEndpoint()]);

    expect(await run(events(3))).toEqual([]);

    expect(deliveries.every).toEqual([]);
    expect(sent).toEqual([]);
  });

  it('adds nothing for an event whose one endpoint is gone', async () => {
    const { run, deliveries } = aFanOut([ours()]);

    expect(await run([owing(anEvent({ tenant, onlyTo: anEndpoint().id }))])).toEqual([]);

    expect(deliveries.every).toEqual([]);
  });

  it('adds a skipped delivery for a disabled endpoint and sends no message', async () => {
    const { run, deliveries, sent } = aFanOut([ours({ status: 'auto_disabled' })]);

    expect(await run(events(1))).toEqual([]);

    expect(deliveries.every).toMatchObject([
      { status: 'skipped', terminalReason: 'endpoint_disabled', terminalAt: NOW.toISOString(), attempts: 0 },
    ]);
    expect(sent).toEqual([]);
  });

  it('sends messages for slow endpoints to the slow queue, and others to the fresh one', async () => {
    const slow = ours({ pace: { is: 'slow', until: later(NOW, seconds(1)).toISOString() } });
    const [quick, other] = [ours(), ours()];
    const { run, sent, lanesOf } = aFanOut([slow, quick, other]);

    expect(await run(events(2))).toEqual([]);

    expect(sent).toHaveLength(6);
    expect(lanesOf).toEqual(
      new Map([
        [slow.id, 'slow'],
        [quick.id, 'fresh'],
        [other.id, 'fresh'],
      ]),
    );
  });

  it('sends messages for stalled endpoints to the stalled queue, but tests to the slow one', async () => {
    const pace = { is: 'stalled', until: later(NOW, seconds(1)).toISOString() } as const;
    const [stalled, both] = [ours({ pace }), ours({ pace })];
    const { run, lanesOf } = aFanOut([stalled, both]);

    await run(events(1));
    expect(lanesOf).toEqual(
      new Map([
        [stalled.id, 'stalled'],
        [both.id, 'stalled'],
      ]),
    );

    await run([owing({ ...anEvent({ tenant, onlyTo: stalled.id }), type: 'webhook.test' })]);
    expect(lanesOf.get(stalled.id)).toBe('slow');
  });

  it('reads the endpoints of an organization once in a batch', async () => {
    const asked: string[] = [];
    const subscribers = {
      async all(orgId: string) {
        asked.push(orgId);
        return [];
      },
      find: async () => undefined,
    };
    const { run } = aFanOut([], { subscribers });
    const other = anEvent();

    await run([...events(40), owing(other)]);

    expect(asked.toSorted()).toEqual([tenant.orgId, other.orgId].toSorted());
  });
});

describe('event for one receiver', () => {
  const aChannel = (changes: Partial<Endpoint> = {}) =>
    ours({ id: newId('chn', NOW), events: [], ...changes });
  const toOnly = (to: Endpoint) => owing({ ...anEvent({ tenant, onlyTo: to.id }), type: 'channel.message' });

  it('reaches no receiver of another organization', async () => {
    const foreign = anEndpoint({ id: newId('chn', NOW) });
    const { run, deliveries } = aFanOut([foreign]);

    expect(await run([toOnly(foreign)])).toEqual([]);

    expect(deliveries.every).toEqual([]);
  });

  it('needs its receiver, read once in a batch, and never all endpoints', async () => {
    const channel = aChannel();
    const asked: string[] = [];
    const subscribers = {
      async all(): Promise<Endpoint[]> {
        throw new Error('unexpected read of all endpoints');
      },
      async find(_orgId: string, id: string) {
        asked.push(id);
        return channel;
      },
    };
    const { run, deliveries } = aFanOut([], { subscribers });

    expect(await run(Array.from({ length: 40 }, () => toOnly(channel)))).toEqual([]);

    expect(asked).toEqual([channel.id]);
    expect(deliveries.every).toHaveLength(40);
  });

  it('is repeated when its receiver cannot be read, and delays no other', async () => {
    const channel = aChannel();
    const endpoint = ours();
    const subscribers = {
      all: async () => [endpoint],
      async find(): Promise<Endpoint> {
        throw new Error('the table is throttled');
      },
    };
    const { run, sent } = aFanOut([], { subscribers });
    const batch = [toOnly(channel), owing()];

    expect(await run(batch)).toEqual(batch.slice(0, 1));

    expect(sent).toHaveLength(1);
  });
});

describe('repeated fan-out', () => {
  it('leaves a delivery alone that has changed meanwhile', async () => {
    const { run, deliveries } = aFanOut([ours()]);
    const batch = events(1);
    await run(batch);
    const [delivery] = deliveries.every;
    if (delivery === undefined) throw new Error('a delivery was to be added');
    await deliveries.claim(delivery, { now: NOW, leaseSeconds: 25, maxAttempts: 8 });
    const claimed = deliveries.every;

    await run(batch);

    expect(deliveries.every).toEqual(claimed);
  });

  it('sends the message of an open delivery whose endpoint was disabled after it was added', async () => {
    const endpoint = ours();
    const { run, deliveries, subscribers, sent } = aFanOut([endpoint]);
    const batch = events(1);
    await run(batch);
    const deliveryMessages = sent.splice(0);
    subscribers.put({ ...endpoint, status: 'auto_disabled' });

    await run(batch);

    expect(deliveries.every).toMatchObject([{ status: 'pending' }]);
    expect(sent).toEqual(deliveryMessages);
  });
});

describe('redelivery in the outbox', () => {
  it('sends the same message when it is repeated', async () => {
    const { run, sent } = aFanOut([ours()]);
    const order = anOrder();

    await run([order]);
    await run([order]);

    expect(sent).toEqual([order.deliveryMessage, order.deliveryMessage]);
  });
});

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

const sandbox = aTenant({ ...tenant, generation: 1 });
/** One outbox work item of each kind, for a generation. */
const buildWork = (generation: number) => [
  owing(anEvent({ tenant: { ...sandbox, generation } })),
  anOrder(aDelivery({ ...sandbox, generation })),
];

function aSandboxFanOut() {
  const service = aFanOut([ours(), ours()]);
  service.states.makeSandbox(sandbox.orgId);
  return service;
}

describe('fan-out of a sandbox', () => {
  it('drops work that a reset has deleted, without a log line', async () => {
    const { run, states, deliveries, sent, log } = aSandboxFanOut();
    states.reset(sandbox.orgId);

    expect(await run(buildWork(1))).toEqual([]);

    expect(deliveries.every).toEqual([]);
    expect(sent).toEqual([]);
    expect(log.entries).toEqual([]);
  });

  it('repeats work of a newer generation than the stored one', async () => {
    const { run, deliveries, sent } = aSandboxFanOut();
    const work = buildWork(2);

    expect(await run(work)).toEqual(work);

    expect(deliveries.every).toEqual([]);
    expect(sent).toEqual([]);
  });
});

describe('fan-out of several organizations', () => {
  it('repeats the work of an unknown one, and processes the others', async () => {
    const { run, states, deliveries, log } = aFanOut([ours()]);
    const [unknown, other] = [owing(anEvent()), owing(anEvent({ tenant }))];
    states.forget(unknown.event.orgId);

    expect(await run([unknown, other])).toEqual([unknown]);

    expect(deliveries.every).toMatchObject([{ eventId: other.event.id }]);
    expect(log.trouble()).toMatchObject([{ level: 'error', fields: { eventId: unknown.event.id } }]);
  });
});
