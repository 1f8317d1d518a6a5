import { describe, expect, it } from 'vitest';
import { DeliveryMessage } from '../../../functions/delivery/delivery.ts';
import { LANES, type Lane } from '../../../functions/delivery/lanes.ts';
import { aDelivery, later, seconds } from '../../builders.ts';
import { queueKinds, type TestQueues } from './queues.ts';

const patient = { visibilitySeconds: 3600, maxReceives: 100 };

const aDeliveryMessage = (): DeliveryMessage => DeliveryMessage.parse(aDelivery());
const some = (count: number): DeliveryMessage[] => Array.from({ length: count }, aDeliveryMessage);
const byId = (deliveryMessages: readonly DeliveryMessage[]) =>
  deliveryMessages.toSorted((a, b) => a.id.localeCompare(b.id));

/** One queue of each kind; most behavior is the same for all queues. */
function bindLane(queues: TestQueues, lane: Lane = 'fresh') {
  const at = (delay: number) => later(queues.now(), seconds(delay));
  return {
    send: (...deliveryMessages: readonly DeliveryMessage[]) =>
      queues.send(
        lane,
        deliveryMessages.map((deliveryMessage) => ({ message: deliveryMessage })),
      ),
    sendLater: (delay: number, ...deliveryMessages: readonly DeliveryMessage[]) =>
      queues.send(
        lane,
        deliveryMessages.map((deliveryMessage) => ({ message: deliveryMessage, until: at(delay) })),
      ),
    hideFor: (receiptHandle: string, duration: number) => queues.hide(lane, receiptHandle, at(duration)),
    receive: () => queues.receive(lane),
    receiveAll: (count: number) => queues.receiveAll(lane, count),
    async receiveOne() {
      const [message] = await queues.receiveAll(lane, 1);
      if (message === undefined) throw new Error('a message was to be received');
      return message;
    },
    remove: (receiptHandle: string) => queues.remove(lane, receiptHandle),
    deadLetter: () => queues.deadLetter(lane),
    backlog: () => queues.backlog(lane),
    inFlight: () => queues.inFlight(lane),
  };
}

describe.each(queueKinds())('a delivery queue (%s)', (_, make) => {
  const aQueue = async (terms = patient) => bindLane(await make(terms));

  it('takes any number of messages, and returns each once with its trace id', async () => {
    const queue = await aQueue();
    const traced = { ...aDeliveryMessage(), traceId: '1-5759e988-bd862e3fe1be46a994272793' };
    const deliveryMessages = [...some(22), traced];
    expect(await queue.send()).toEqual([]);

    expect(await queue.send(...deliveryMessages)).toEqual([]);

    const messages = await queue.receiveAll(23);
    expect(byId(messages.map(({ message }) => message))).toEqual(byId(deliveryMessages));
    expect(messages.every(({ receives }) => receives === 1)).toBe(true);
    expect(await queue.receive()).toEqual([]);
  });

  it('keeps both copies of a message that is sent twice', async () => {
    const queue = await aQueue();
    const deliveryMessage = aDeliveryMessage();

    await queue.send(deliveryMessage);
    await queue.send(deliveryMessage);

    expect((await queue.receiveAll(2)).map((message) => message.message)).toEqual([
      deliveryMessage,
      deliveryMessage,
    ]);
  });

  it('returns at most ten messages at a time', async () => {
    const queue = await aQueue();
    await queue.send(...some(11));

    expect((await queue.receive()).length).toBeLessThanOrEqual(10);
  });

  it('returns messages of quiet organizations before those of one with many in flight', async () => {
    const queue = await aQueue();
    const [{ orgId: noisy }, quiet] = [aDeliveryMessage(), some(5)];
    const ofNoisy = (count: number) =>
      some(count).map((deliveryMessage) => ({ ...deliveryMessage, orgId: noisy }));
    await queue.send(...ofNoisy(40));
    await queue.receiveAll(40);
    await queue.send(...ofNoisy(20));
    await queue.send(...quiet);

    const received = await queue.receiveAll(5);

    expect(byId(received.map(({ message }) => message).slice(0, 5))).toEqual(byId(quiet));
  });

  it('returns messages of a noisy organization when no other waits', async () => {
    const queue = await aQueue();
    const { orgId } = aDeliveryMessage();
    await queue.send(...some(60).map((deliveryMessage) => ({ ...deliveryMessage, orgId })));
    expect(await queue.receiveAll(60)).toHaveLength(60);
  });

  it('does not return a message that was removed', async () => {
    const queue = await aQueue();
    const [removed, kept] = [aDeliveryMessage(), aDeliveryMessage()];
    await queue.send(removed, kept);
    for (const { message: deliveryMessage, receiptHandle } of await queue.receiveAll(2)) {
      if (deliveryMessage.id === removed.id) await queue.remove(receiptHandle);
      else await queue.hideFor(receiptHandle, 1);
    }

    expect(await queue.receiveOne()).toMatchObject({ message: kept, receives: 2 });
  });

  it('returns a message again when its visibility timeout has passed', async () => {
    const queue = await aQueue({ ...patient, visibilitySeconds: 1 });
    const deliveryMessage = aDeliveryMessage();
    await queue.send(deliveryMessage);

    const first = await queue.receiveOne();
    const second = await queue.receiveOne();

    expect([first.receives, second.receives]).toEqual([1, 2]);
    expect(second.message).toEqual(deliveryMessage);
  });

  it('hides a message until the given time, and counts every receive', async () => {
    const queue = await aQueue();
    const deliveryMessage = aDeliveryMessage();
    await queue.send(deliveryMessage);

    for (let receives = 1; receives <= 3; receives += 1) {
      const message = await queue.receiveOne();
      expect(message).toMatchObject({ message: deliveryMessage, receives });
      await queue.hideFor(message.receiptHandle, 7200);
      expect(await queue.receive()).toEqual([]);
      await queue.hideFor(message.receiptHandle, 1);
    }
  });

  it('hides a message for SQS’s longest time when the given time is later', async () => {
    const queue = await aQueue();
    await queue.send(aDeliveryMessage());
    const { receiptHandle } = await queue.receiveOne();

    await queue.hideFor(receiptHandle, 86_400);

    expect(await queue.receive()).toEqual([]);
  });

  it('refuses to hide a message that was removed', async () => {
    const queue = await aQueue();
    await queue.send(aDeliveryMessage());
    const { receiptHandle } = await queue.receiveOne();
    await queue.remove(receiptHandle);

    await expect(queue.hideFor(receiptHandle, 60)).rejects.toThrow();
  });

  it('moves a message to the dead-letter queue when it was received too often', async () => {
    const queue = await aQueue({ visibilitySeconds: 3600, maxReceives: 2 });
    const deliveryMessage = aDeliveryMessage();
    await queue.send(deliveryMessage);
    for (let receives = 1; receives <= 2; receives += 1)
      await queue.hideFor((await queue.receiveOne()).receiptHandle, 1);

    expect(await queue.deadLetter()).toEqual(deliveryMessage);
    expect(await queue.receive()).toEqual([]);
  });

  it('delays a message until the given time, and then returns it like any other', async () => {
    const queues = await make(patient);
    const queue = bindLane(queues);
    const deliveryMessage = aDeliveryMessage();
    const until = later(queues.now(), seconds(1));

    expect(await queues.send('fresh', [{ message: deliveryMessage, until }])).toEqual([]);

    expect(await queue.receiveOne()).toMatchObject({ message: deliveryMessage, receives: 1 });
    expect(queues.now().getTime()).toBeGreaterThanOrEqual(until.getTime());
  });

  it.each([600, 86_400])('does not return a message yet that is delayed by %i s', async (delay) => {
    const queue = await aQueue();
    const [held, free] = [aDeliveryMessage(), aDeliveryMessage()];

    expect(await queue.sendLater(delay, held)).toEqual([]);
    await queue.send(free);

    expect((await queue.receiveAll(1)).map(({ message }) => message)).toEqual([free]);
    expect(await queue.receive()).toEqual([]);
  });

  it('does not delay a message whose time has passed', async () => {
    const queue = await aQueue();
    await queue.sendLater(-60, aDeliveryMessage());

    expect(await queue.receive()).toHaveLength(1);
  });

  it('counts visible messages as its backlog, received and hidden ones as in flight, and delayed ones as neither', async () => {
    const queue = await aQueue();
    const counts = async () => [await queue.backlog(), await queue.inFlight()];
    expect(await counts()).toEqual([0, 0]);

    await queue.send(...some(3));
    await queue.sendLater(600, ...some(2));
    expect(await counts()).toEqual([3, 0]);

    const [first, second] = await queue.receiveAll(3);
    expect(await counts()).toEqual([0, 3]);

    await queue.remove(first?.receiptHandle ?? '');
    await queue.hideFor(second?.receiptHandle ?? '', 600);
    expect(await counts()).toEqual([0, 2]);
  });
});

describe.each(queueKinds())('delivery queues (%s)', (_, make) => {
  it('have messages of their own', async () => {
    const queues = await make(patient);
    const deliveryMessages = new Map(LANES.map((lane) => [lane, aDeliveryMessage()]));
    for (const [lane, deliveryMessage] of deliveryMessages)
      await queues.send(lane, [{ message: deliveryMessage }]);

    for (const [lane, deliveryMessage] of deliveryMessages) {
      expect(await queues.backlog(lane)).toBe(1);
      const [message] = await queues.receiveAll(lane, 1);
      expect(message?.message).toEqual(deliveryMessage);
      await queues.hide(lane, message?.receiptHandle ?? '', later(queues.now(), seconds(600)));
      expect(await queues.receive(lane)).toEqual([]);
    }
  });

  it('are not crowded by a few messages in flight', async () => {
    const queues = await make(patient);
    await queues.send(
      'retry',
      some(20).map((deliveryMessage) => ({ message: deliveryMessage })),
    );
    await queues.receiveAll('retry', 20);

    for (const lane of LANES) expect(await queues.crowded(lane)).toBe(false);
  });
});
