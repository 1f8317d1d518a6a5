import { describe, expect, it } from 'vitest';
import { Reminder } from '../../../functions/domain/delivery.ts';
import { aDelivery, later, seconds } from '../../builders.ts';
import { queueKinds, type TestQueue } from './queues.ts';

const patient = { visibilitySeconds: 3600, maxReceives: 100 };

const aReminder = (): Reminder => Reminder.parse(aDelivery());
const some = (count: number): Reminder[] => Array.from({ length: count }, aReminder);
const byId = (reminders: readonly Reminder[]) => reminders.toSorted((a, b) => a.id.localeCompare(b.id));

async function receiveOne(queue: TestQueue) {
  const [message] = await queue.receiveAll(1);
  if (message === undefined) throw new Error('a message was to be received');
  return message;
}

const hideFor = (queue: TestQueue, receiptHandle: string, duration: number) => {
  const now = queue.now();
  return queue.hide(receiptHandle, later(now, seconds(duration)), now);
};

describe.each(queueKinds())('the delivery queue (%s)', (_, make) => {
  it('takes any number of reminders and hands each out once', async () => {
    const queue = await make(patient);
    const reminders = some(23);

    expect(await queue.send(reminders)).toEqual([]);

    const messages = await queue.receiveAll(23);
    expect(byId(messages.map(({ reminder }) => reminder))).toEqual(byId(reminders));
    expect(messages.every(({ receives }) => receives === 1)).toBe(true);
    expect(await queue.receive()).toEqual([]);
  });

  it('has nothing to do for no reminders', async () => {
    const queue = await make(patient);

    expect(await queue.send([])).toEqual([]);
    expect(await queue.receive()).toEqual([]);
  });

  it('keeps the same reminder twice when it is sent twice', async () => {
    const queue = await make(patient);
    const reminder = aReminder();

    await queue.send([reminder]);
    await queue.send([reminder]);

    expect((await queue.receiveAll(2)).map((message) => message.reminder)).toEqual([reminder, reminder]);
  });

  it('hands out at most ten messages at a time', async () => {
    const queue = await make(patient);
    await queue.send(some(11));

    expect((await queue.receive()).length).toBeLessThanOrEqual(10);
  });

  it('forgets a message that was removed', async () => {
    const queue = await make(patient);
    const [removed, kept] = some(2);
    if (removed === undefined || kept === undefined) throw new Error('two reminders were to be made');
    await queue.send([removed, kept]);
    for (const { reminder, receiptHandle } of await queue.receiveAll(2)) {
      if (reminder.id === removed.id) await queue.remove(receiptHandle);
      else await hideFor(queue, receiptHandle, 1);
    }

    expect(await receiveOne(queue)).toMatchObject({ reminder: kept, receives: 2 });
  });

  it('hands a message out again when its visibility timeout has passed', async () => {
    const queue = await make({ ...patient, visibilitySeconds: 1 });
    const reminder = aReminder();
    await queue.send([reminder]);

    const first = await receiveOne(queue);
    const second = await receiveOne(queue);

    expect([first.receives, second.receives]).toEqual([1, 2]);
    expect(second.reminder).toEqual(reminder);
  });

  it('hides a message until the time given, and counts every receive', async () => {
    const queue = await make(patient);
    const reminder = aReminder();
    await queue.send([reminder]);

    for (let receives = 1; receives <= 3; receives += 1) {
      const message = await receiveOne(queue);
      expect(message).toMatchObject({ reminder, receives });
      await hideFor(queue, message.receiptHandle, 7200);
      expect(await queue.receive()).toEqual([]);
      await hideFor(queue, message.receiptHandle, 1);
    }
  });

  it('hides for the longest time that SQS can when the time given is beyond it', async () => {
    const queue = await make(patient);
    await queue.send([aReminder()]);
    const { receiptHandle } = await receiveOne(queue);

    await hideFor(queue, receiptHandle, 86_400);

    expect(await queue.receive()).toEqual([]);
  });

  it('refuses to hide a message that was removed', async () => {
    const queue = await make(patient);
    await queue.send([aReminder()]);
    const { receiptHandle } = await receiveOne(queue);
    await queue.remove(receiptHandle);

    await expect(hideFor(queue, receiptHandle, 60)).rejects.toThrow();
  });

  it('moves a message that was received too often to the dead letters', async () => {
    const queue = await make({ visibilitySeconds: 3600, maxReceives: 2 });
    const reminder = aReminder();
    await queue.send([reminder]);
    for (let receives = 1; receives <= 2; receives += 1)
      await hideFor(queue, (await receiveOne(queue)).receiptHandle, 1);

    expect(await queue.deadLetter()).toEqual(reminder);
    expect(await queue.receive()).toEqual([]);
  });
});
