import {
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  type Message,
  ReceiveMessageCommand,
} from '@aws-sdk/client-sqs';
import { sqs } from 'aws-local/test/engines.ts';
import { VirtualClock } from 'aws-local/test/virtual-clock.ts';
import type { Failure } from '../../../functions/aws/concurrency.ts';
import { DeliveryMessage, type OutgoingMessage } from '../../../functions/delivery/delivery.ts';
import { LANES, type Lane } from '../../../functions/delivery/lanes.ts';
import { deliveryQueues } from '../../../functions/delivery/queues.ts';
import { MemoryLanes } from '../../doubles/memory-lanes.ts';
import type { ReceivedMessage } from '../../doubles/memory-queue.ts';

/** The delivery queues with the consumer side that the function runtime uses. */
export interface TestQueues {
  send<M extends OutgoingMessage>(lane: Lane, messages: readonly M[]): Promise<Failure<M>[]>;
  hide(lane: Lane, receiptHandle: string, until: Date): Promise<void>;
  crowded(lane: Lane): Promise<boolean>;
  backlog(lane: Lane): Promise<number>;
  /** Messages that were received and neither removed nor visible again. */
  inFlight(lane: Lane): Promise<number>;
  now(): Date;
  /** Messages that can be received now. */
  receive(lane: Lane): Promise<ReceivedMessage[]>;
  /** Waits until `count` messages were received. */
  receiveAll(lane: Lane, count: number): Promise<ReceivedMessage[]>;
  remove(lane: Lane, receiptHandle: string): Promise<void>;
  /** Waits for messages in the dead-letter queue. */
  deadLetter(lane: Lane): Promise<DeliveryMessage>;
}

interface Terms {
  visibilitySeconds: number;
  maxReceives: number;
}

/** Both kinds of queues, new for each test. */
export function queueKinds(): [name: string, make: (terms: Terms) => Promise<TestQueues>][] {
  const engine = sqs();
  return [
    ['memory', async (terms) => memoryTestQueues(terms)],
    ['sqs', (terms) => sqsTestQueues(engine, terms)],
  ];
}

function memoryTestQueues(terms: Terms): TestQueues {
  const clock = new VirtualClock();
  const lanes = new MemoryLanes({ ...terms, now: clock.now });
  const receiveNext = (lane: Lane) => {
    const next = lanes.queues[lane].nextVisibleAt();
    if (next) clock.elapseUntil(next);
    return lanes.queues[lane].receive();
  };
  return {
    send: (lane, messages) => lanes.send(lane, messages),
    hide: (lane, receiptHandle, until) => lanes.hide(lane, receiptHandle, until),
    crowded: (lane) => lanes.crowded(lane),
    backlog: (lane) => lanes.backlog(lane),
    inFlight: async (lane) => lanes.queues[lane].inFlight,
    now: clock.now,
    receive: async (lane) => lanes.queues[lane].receive(),
    receiveAll: (lane, count) => collect(count, async () => receiveNext(lane)),
    remove: (lane, receiptHandle) => lanes.queues[lane].remove(receiptHandle),
    async deadLetter(lane) {
      receiveNext(lane);
      const [deliveryMessage] = lanes.queues[lane].deadLetters;
      if (deliveryMessage === undefined) throw new Error('the queue has given nothing up');
      return deliveryMessage;
    },
  };
}

async function sqsTestQueues(engine: ReturnType<typeof sqs>, terms: Terms): Promise<TestQueues> {
  const client = engine.client();
  const entries = LANES.map(async (lane) => [lane, await engine.queues(terms)] as const);
  const created = Object.fromEntries(await Promise.all(entries)) as Record<
    Lane,
    Awaited<ReturnType<typeof engine.queues>>
  >;
  const now = () => new Date();
  const queues = deliveryQueues(client, (lane: Lane) => created[lane].url, now);
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
    ...queues,
    async inFlight(lane) {
      const { Attributes } = await client.send(
        new GetQueueAttributesCommand({
          QueueUrl: created[lane].url,
          AttributeNames: ['ApproximateNumberOfMessagesNotVisible'],
        }),
      );
      return Number(Attributes?.ApproximateNumberOfMessagesNotVisible);
    },
    now,
    receive: (lane) => receive(created[lane].url, 0),
    receiveAll: (lane, count) => collect(count, () => receive(created[lane].url, 1)),
    remove: async (lane, ReceiptHandle) =>
      void (await client.send(new DeleteMessageCommand({ QueueUrl: created[lane].url, ReceiptHandle }))),
    async deadLetter(lane) {
      for (;;) {
        // SQS moves a message to the dead-letter queue at the next receive after the maximum.
        await receive(created[lane].url, 0);
        const [dead] = await receive(created[lane].deadLetterUrl, 1);
        if (dead) return dead.message;
      }
    },
  };
}

const received = ({ Body = '', ReceiptHandle = '', Attributes }: Message): ReceivedMessage => ({
  message: DeliveryMessage.parse(JSON.parse(Body)),
  receiptHandle: ReceiptHandle,
  receives: Number(Attributes?.ApproximateReceiveCount),
});

/** Receives until there are `count`; a missing one ends the test by its timeout. */
async function collect(count: number, receive: () => Promise<ReceivedMessage[]>): Promise<ReceivedMessage[]> {
  const all: ReceivedMessage[] = [];
  while (all.length < count) all.push(...(await receive()));
  return all;
}
