import { DeleteMessageCommand, type Message, ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import { Reminder } from '../../../functions/domain/delivery.ts';
import { deliveryQueue } from '../../../functions/platform/delivery-queue.ts';
import { MemoryQueue, type ReceivedReminder } from '../../doubles/memory-queue.ts';
import { VirtualClock } from '../../doubles/virtual-clock.ts';
import { sqs } from '../../engines.ts';

/** A delivery queue with what the function runtime does on its other side. */
export interface TestQueue {
  send(reminders: readonly Reminder[]): Promise<Reminder[]>;
  hide(receiptHandle: string, until: Date, now: Date): Promise<void>;
  now(): Date;
  /** What can be received at this moment. */
  receive(): Promise<ReceivedReminder[]>;
  /** Waits until `count` messages were received. */
  receiveAll(count: number): Promise<ReceivedReminder[]>;
  remove(receiptHandle: string): Promise<void>;
  /** Waits for what the queue gave up. */
  deadLetter(): Promise<Reminder>;
}

interface Terms {
  visibilitySeconds: number;
  maxReceives: number;
}

/** Both kinds of queues, each made anew for a test. */
export function queueKinds(): [name: string, make: (terms: Terms) => Promise<TestQueue>][] {
  const engine = sqs();
  return [
    ['memory', async (terms) => memoryTestQueue(terms)],
    ['sqs', (terms) => sqsTestQueue(engine, terms)],
  ];
}

function memoryTestQueue(terms: Terms): TestQueue {
  const clock = new VirtualClock();
  const queue = new MemoryQueue({ ...terms, now: clock.now });
  const receiveNext = () => {
    const next = queue.nextVisibleAt();
    if (next) clock.elapseUntil(next);
    return queue.receive();
  };
  return {
    send: queue.send,
    hide: (receiptHandle, until, now) => queue.hide(receiptHandle, until, now),
    now: clock.now,
    receive: async () => queue.receive(),
    receiveAll: (count) => collect(count, async () => receiveNext()),
    remove: (receiptHandle) => queue.remove(receiptHandle),
    async deadLetter() {
      receiveNext();
      const [reminder] = queue.deadLetters;
      if (reminder === undefined) throw new Error('the queue has given nothing up');
      return reminder;
    },
  };
}

async function sqsTestQueue(engine: ReturnType<typeof sqs>, terms: Terms): Promise<TestQueue> {
  const client = engine.client();
  const { url, deadLetterUrl } = await engine.queues(terms);
  const queue = deliveryQueue(client, url);
  const receive = async (QueueUrl: string, WaitTimeSeconds: number) => {
    const { Messages = [] } = await client.send(
      new ReceiveMessageCommand({
        QueueUrl,
        WaitTimeSeconds,
        MaxNumberOfMessages: 10,
        MessageSystemAttributeNames: ['ApproximateReceiveCount'],
      }),
    );
    return Messages.map(received);
  };
  return {
    send: (reminders) => queue.send(reminders),
    hide: (receiptHandle, until, now) => queue.hide(receiptHandle, until, now),
    now: () => new Date(),
    receive: () => receive(url, 0),
    receiveAll: (count) => collect(count, () => receive(url, 1)),
    remove: async (ReceiptHandle) =>
      void (await client.send(new DeleteMessageCommand({ QueueUrl: url, ReceiptHandle }))),
    async deadLetter() {
      for (;;) {
        // SQS gives a message up when somebody asks for it once more.
        await receive(url, 0);
        const [dead] = await receive(deadLetterUrl, 1);
        if (dead) return dead.reminder;
      }
    },
  };
}

const received = ({ Body = '', ReceiptHandle = '', Attributes }: Message): ReceivedReminder => ({
  reminder: Reminder.parse(JSON.parse(Body)),
  receiptHandle: ReceiptHandle,
  receives: Number(Attributes?.ApproximateReceiveCount),
});

/** Receives until there are `count`; one that never comes ends the test by its timeout. */
async function collect(
  count: number,
  receive: () => Promise<ReceivedReminder[]>,
): Promise<ReceivedReminder[]> {
  const all: ReceivedReminder[] = [];
  while (all.length < count) all.push(...(await receive()));
  return all;
}
