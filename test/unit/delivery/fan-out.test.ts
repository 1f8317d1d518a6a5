import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import {
  type Delivery,
  type DeliveryMessage,
  toDeliveryMessage,
} from '../../../functions/delivery/delivery.ts';
import { type FanOutPorts, fanOut } from '../../../functions/delivery/fan-out.ts';
import type { FirstLane } from '../../../functions/delivery/lanes.ts';
import type { OutboxEvent } from '../../../functions/events/events.ts';
import type { Endpoint } from '../../../functions/receivers/endpoint.ts';
import { aDelivery, anEndpoint, anEvent, aTenant, later, NOW, seconds } from '../../builders.ts';
import { interposed } from '../../doubles/interposed.ts';
import { MemoryEndpoints, memoryDeliveries } from '../../doubles/memory-deliveries.ts';
import { memoryOrganizationStates } from '../../doubles/memory-organization-states.ts';
import { refuse } from '../../doubles/memory-queue.ts';
import { recordedLog } from '../../doubles/recorded-log.ts';

const tenant = aTenant();
const ours = (changes: Partial<Endpoint> = {}) => anEndpoint({ orgId: tenant.orgId, ...changes });
/** The outbox work of an event. */
const owing = (event: OutboxEvent = anEvent({ tenant })) => ({ kind: 'event' as const, event });
const events = (count: number) => Array.from({ length: count }, () => owing());
/** The outbox work of a delivery that is resent. */
const anOrder = (delivery: Delivery = aDelivery({ orgId: tenant.orgId })) => ({
  kind: 'redelivery' as const,
  deliveryMessage: toDeliveryMessage(delivery),
});

/** Fan-out over stores in memory, with some of its ports replaced. */
function aFanOut(endpoints: Endpoint[], replaced: Partial<FanOutPorts> = {}) {
  const subscribers = new MemoryEndpoints();
  for (const endpoint of endpoints) subscribers.put(endpoint);
  const states = memoryOrganizationStates();
  const deliveries = memoryDeliveries(subscribers);
  const log = recordedLog();
  const sent: DeliveryMessage[] = [];
  const lanesOf = new Map<DeliveryMessage['webhookId'], FirstLane>();
  const queues: FanOutPorts['queues'] = {
    async send(lane, messages) {
      for (const { message: deliveryMessage } of messages) {
        sent.push(deliveryMessage);
        lanesOf.set(deliveryMessage.webhookId, lane);
      }
      return [];
    },
  };
  const run = fanOut({
    subscribers,
    deliveries,
    queues,
    organizations: states,
    log,
    now: () => NOW,
    ...replaced,
  });
  return { run, subscribers, deliveries, states, log, sent, lanesOf };
}

describe('fan-out', () => {
  it('ignores endpoints that have not subscribed, and those of other organizations', async () => {
    const { run, deliveries, sent } = aFanOut([ours({ events: ['message.received'] }), anEndpoint()]);

    expect(await run(events(3))).toEqual([]);

    expect(deliveries.every).toEqual([]);
    expect(sent).toEqual([]);
  });

  it('adds a skipped delivery for a disabled endpoint and sends no message', async () => {
    const { run, deliveries, sent } = aFanOut([ours({ status: 'auto_disabled' })]);

    expect(await run(events(1))).toEqual([]);

    expect(deliveries.every).toMatchObject([
      { status: 'skipped', terminalReason: 'endpoint_disabled', terminalAt: NOW.toISOString(), attempts: 0 },
    ]);
    expect(sent).toEqual([]);
  });

  it("sends messages to the queue of each endpoint's pace, but tests to the slow one at most", async () => {
    const until = later(NOW, seconds(1)).toISOString();
    const [quick, slow, stalled] = [
      ours(),
      ours({ pace: { is: 'slow', until } }),
      ours({ pace: { is: 'stalled', until } }),
    ];
    const { run, sent, lanesOf } = aFanOut([quick, slow, stalled]);

    expect(await run(events(2))).toEqual([]);

    expect(sent).toHaveLength(6);
    expect(lanesOf).toEqual(
      new Map([
        [quick.id, 'fresh'],
        [slow.id, 'slow'],
        [stalled.id, 'stalled'],
      ]),
    );
    await run([owing({ ...anEvent({ tenant, onlyTo: stalled.id }), type: 'webhook.test' })]);
    expect(lanesOf.get(stalled.id)).toBe('slow');
  });

  it("puts the trace of an event's call into its messages and its log lines", async () => {
    const traceId = '1-5759e988-bd862e3fe1be46a994272793';
    const { run, sent, log } = aFanOut([ours()]);

    await run([owing({ ...anEvent({ tenant }), traceId })]);

    expect(sent.map((message) => message.traceId)).toEqual([traceId]);
    expect(log.entries.map(({ fields }) => fields.traceId)).toEqual([traceId]);
  });
});

describe('event for one receiver', () => {
  it('reaches no receiver of another organization', async () => {
    const foreign = anEndpoint({ id: newId('chn', NOW) });
    const { run, deliveries } = aFanOut([foreign]);
    const event = { ...anEvent({ tenant, onlyTo: foreign.id }), type: 'channel.message' } as const;

    expect(await run([owing(event)])).toEqual([]);
    expect(deliveries.every).toEqual([]);
  });
});

describe('repeated fan-out', () => {
  it('adds each delivery once when several workers fan out one event at the same time', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 2, max: 4 }), fc.scheduler(), async (runs, scheduler) => {
        const memory = memoryDeliveries(new MemoryEndpoints());
        const { run } = aFanOut([ours(), ours()], {
          deliveries: interposed('deliveries', memory, async () => scheduler.schedule(Promise.resolve())),
        });
        const batch = events(1);

        await scheduler.waitFor(Promise.all(Array.from({ length: runs }, () => run(batch))));

        expect(memory.every).toHaveLength(2);
        expect(memory.stream).toHaveLength(2);
      }),
    );
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
