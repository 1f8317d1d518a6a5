import { describe, expect, it } from 'vitest';
import { type Delivery, Reminder } from '../../../functions/domain/delivery.ts';
import { deliveryId } from '../../../functions/domain/ids.ts';
import { anEndpoint, anEvent, later, NOW, seconds } from '../../builders.ts';
import { aFanOut, anOrder, events, ours, owing, tenant } from './a-fan-out.ts';

const endpointsOf = (deliveries: readonly Pick<Delivery, 'webhookId'>[]) =>
  deliveries.map(({ webhookId }) => webhookId).toSorted();

describe('fan-out', () => {
  it('adds a pending delivery to each subscribed endpoint and sends a reminder of it', async () => {
    const [first, second] = [ours(), ours({ events: ['message.received', 'conversation.created'] })];
    const { run, deliveries, sent } = aFanOut([first, second]);
    const event = anEvent({ tenant });

    expect(await run([owing(event)])).toEqual([]);

    expect(deliveries.every).toHaveLength(2);
    for (const endpoint of [first, second])
      expect(deliveries.every).toContainEqual({
        id: deliveryId(event.id, endpoint.id),
        orgId: tenant.orgId,
        generation: 0,
        webhookId: endpoint.id,
        eventId: event.id,
        eventType: 'conversation.created',
        status: 'pending',
        attempts: 0,
        attemptLog: [],
        createdAt: NOW.toISOString(),
      });
    expect(sent).toEqual(deliveries.every.map((delivery) => Reminder.parse(delivery)));
  });

  it('passes over endpoints that did not subscribe, and those of other organizations', async () => {
    const { run, deliveries, sent } = aFanOut([ours({ events: ['message.received'] }), anEndpoint()]);

    expect(await run(events(3))).toEqual([]);

    expect(deliveries.every).toEqual([]);
    expect(sent).toEqual([]);
  });

  it('sends an event for one endpoint to it alone, whatever it or others subscribe to', async () => {
    const addressee = ours({ events: ['ticket.created'] });
    const { run, deliveries } = aFanOut([ours(), addressee, ours()]);

    await run([owing(anEvent({ tenant, onlyTo: addressee.id }))]);

    expect(endpointsOf(deliveries.every)).toEqual([addressee.id]);
  });

  it('adds nothing for an event whose one endpoint is gone', async () => {
    const { run, deliveries } = aFanOut([ours()]);

    expect(await run([owing(anEvent({ tenant, onlyTo: anEndpoint().id }))])).toEqual([]);

    expect(deliveries.every).toEqual([]);
  });

  it('owes a disabled endpoint a skipped delivery and no reminder', async () => {
    const { run, deliveries, sent } = aFanOut([ours({ status: 'auto_disabled' })]);

    expect(await run(events(1))).toEqual([]);

    expect(deliveries.every).toMatchObject([
      { status: 'skipped', terminalReason: 'endpoint_disabled', terminalAt: NOW.toISOString(), attempts: 0 },
    ]);
    expect(sent).toEqual([]);
  });

  it('reminds of deliveries to slow endpoints in the slow lane, and of the others in the fresh one', async () => {
    const slow = ours({ slowUntil: later(NOW, seconds(1)).toISOString() });
    const [quick, recovered] = [ours(), ours({ slowUntil: NOW.toISOString() })];
    const { run, sent, lanesOf } = aFanOut([slow, quick, recovered]);

    expect(await run(events(2))).toEqual([]);

    expect(sent).toHaveLength(6);
    expect(lanesOf).toEqual(
      new Map([
        [slow.id, 'slow'],
        [quick.id, 'fresh'],
        [recovered.id, 'fresh'],
      ]),
    );
  });

  it('asks for the endpoints of an organization once in a batch', async () => {
    const asked: string[] = [];
    const subscribers = {
      async all(orgId: string) {
        asked.push(orgId);
        return [];
      },
    };
    const { run } = aFanOut([], { subscribers });
    const other = anEvent();

    await run([...events(40), owing(other)]);

    expect(asked.toSorted()).toEqual([tenant.orgId, other.orgId].toSorted());
  });
});

describe('a repeated fan-out', () => {
  it('adds nothing, and reminds again', async () => {
    const { run, deliveries, sent } = aFanOut([ours(), ours()]);
    const batch = events(3);
    await run(batch);
    const before = deliveries.every;
    const reminders = sent.splice(0);

    expect(await run(batch)).toEqual([]);

    expect(deliveries.every).toEqual(before);
    expect(sent).toEqual(reminders);
  });

  it('leaves a delivery alone that has gone on meanwhile', async () => {
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

  it('reminds of an open delivery whose endpoint was disabled since it was added', async () => {
    const endpoint = ours();
    const { run, deliveries, subscribers, sent } = aFanOut([endpoint]);
    const batch = events(1);
    await run(batch);
    const reminders = sent.splice(0);
    subscribers.put({ ...endpoint, status: 'auto_disabled' });

    await run(batch);

    expect(deliveries.every).toMatchObject([{ status: 'pending' }]);
    expect(sent).toEqual(reminders);
  });
});

describe('the order of a redelivery', () => {
  it('sends the reminder of its one delivery, and adds none', async () => {
    const { run, deliveries, sent } = aFanOut([ours(), ours()]);
    const order = anOrder();

    expect(await run([order])).toEqual([]);

    expect(sent).toEqual([order.reminder]);
    expect(deliveries.every).toEqual([]);
  });

  it('is dealt with among events, each once', async () => {
    const { run, deliveries, sent } = aFanOut([ours()]);
    const orders = [anOrder(), anOrder()];

    expect(await run([...events(3), ...orders, ...events(2)])).toEqual([]);

    const ordered = orders.map(({ reminder }) => reminder.id);
    expect(sent.map(({ id }) => id).toSorted()).toEqual(
      [...deliveries.every.map(({ id }) => id), ...ordered].toSorted(),
    );
    expect(deliveries.every).toHaveLength(5);
  });

  it('sends the same reminder when it is repeated', async () => {
    const { run, sent } = aFanOut([ours()]);
    const order = anOrder();

    await run([order]);
    await run([order]);

    expect(sent).toEqual([order.reminder, order.reminder]);
  });
});
