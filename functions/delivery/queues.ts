import {
  ChangeMessageVisibilityCommand,
  GetQueueAttributesCommand,
  SendMessageBatchCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import { TimedCache } from '../aws/cache.ts';
import { type Failure, REQUEST_BYTES, splitIntoChunks } from '../aws/concurrency.ts';
import { logger } from '../aws/logger.ts';
import { count, UNREADABLE_MESSAGES } from '../aws/metrics.ts';
import { BusEvent } from '../events/bus.ts';
import { DeliveryMessage, type OutgoingMessage } from './delivery.ts';
import { CROWDED_IN_FLIGHT, LANES, type Lane, type QueueVariable } from './lanes.ts';
import { getMessageGroup } from './redelivery.ts';
import { computeDelaySeconds, computeVisibilitySeconds } from './timing.ts';

/** Maximum messages per SQS request. */
const MAX_BATCH_ENTRIES = 10;
/** Maximum age of a queue's measured attributes. Milliseconds. */
const GAUGE_MS = 5_000;

/** A message that SQS refused in a request that it answered. */
class MessageRefused extends Error {
  override name = 'MessageRefused';

  readonly code: string;

  constructor(code = 'unknown') {
    super('the queue refused a message');
    this.code = code;
  }
}

/**
 * Returns a function that reads a queue's URL from the environment variable that the table names.
 * @param table queues of the function
 */
export const queueUrls =
  <T extends Partial<Record<Lane, { queue: string }>>>(
    table: T,
    environment: Readonly<Record<QueueVariable<T>, string>>,
  ) =>
  (lane: keyof T & Lane): string =>
    environment[(table[lane] as { queue: QueueVariable<T> }).queue];

/** @param getUrl returns the URL of a queue of the function */
export function deliveryQueues<L extends Lane>(
  client: Pick<SQSClient, 'send'>,
  getUrl: (lane: L) => string,
  now: () => Date,
) {
  const gauges = new TimedCache<Lane, Promise<number>>({ capacity: LANES.length, freshMs: GAUGE_MS });

  const measure =
    (attribute: 'ApproximateNumberOfMessages' | 'ApproximateNumberOfMessagesNotVisible') =>
    async (lane: L): Promise<number> => {
      const { Attributes } = await client.send(
        new GetQueueAttributesCommand({ QueueUrl: getUrl(lane), AttributeNames: [attribute] }),
      );
      return Number(Attributes?.[attribute] ?? Number.NaN);
    };
  const measureInFlight = measure('ApproximateNumberOfMessagesNotVisible');

  return {
    /** Sends delivery messages; returns those that the queue did not take. */
    send<M extends OutgoingMessage>(lane: L, messages: readonly M[]): Promise<Failure<M>[]> {
      return sendBatches(client, getUrl(lane), messages, ({ message, until }) => ({
        body: JSON.stringify(DeliveryMessage.parse(message)),
        group: getMessageGroup(message),
        delay: until === undefined ? 0 : computeDelaySeconds(until, now()),
      }));
    },

    hide(lane: L, receiptHandle: string, until: Date): Promise<void> {
      return setVisibility(client, getUrl(lane))(receiptHandle, computeVisibilitySeconds(until, now()));
    },

    /**
     * Whether a queue is near its limit of messages in flight. Measured every few seconds at most, only when
     * a wait is to be held.
     */
    async crowded(lane: L): Promise<boolean> {
      const at = now();
      const cached = gauges.get(lane, at);
      const inFlight = cached ?? measureInFlight(lane);
      if (cached === undefined) gauges.set(lane, inFlight, at);
      try {
        // An unknown number (NaN) counts as crowded.
        return !((await inFlight) < CROWDED_IN_FLIGHT);
      } catch (error) {
        gauges.delete(lane);
        throw error;
      }
    },

    /** Messages that were received, or are hidden until their retry. */
    inFlight: measureInFlight,

    /** Messages that could be received now. */
    backlog: measure('ApproximateNumberOfMessages'),
  };
}

/**
 * Parses the body of a delivery message. An unreadable message may be dropped: every open delivery is in its
 * table.
 * @returns undefined, after a report, when the body is unreadable
 */
export function parseDeliveryMessage(body: string, messageId: string): DeliveryMessage | undefined {
  try {
    return DeliveryMessage.parse(JSON.parse(body));
  } catch (error) {
    logger.log('REMINDER_UNREADABLE', { messageId, error });
    count(UNREADABLE_MESSAGES);
    return undefined;
  }
}

export type WorkerQueue = ReturnType<typeof workerQueue>;

/** The queue of a bus worker, for senders that bypass the bus with the same messages. */
export const workerQueue = (client: SQSClient, url: string) => ({
  /**
   * Sends events; returns those that the queue did not take.
   * @param delay seconds, at most `MAX_DELAY_SECONDS`
   */
  send: (events: readonly BusEvent[], delay = 0): Promise<Failure<BusEvent>[]> =>
    sendBatches(client, url, events, (event) => ({
      body: JSON.stringify({ detail: BusEvent.parse(event) }),
      group: event.orgId,
      delay,
    })),
});

/**
 * Sets a received message's visibility timeout, in seconds from now.
 * @param url of the queue
 */
export const setVisibility =
  (client: Pick<SQSClient, 'send'>, url: string) =>
  async (receiptHandle: string, seconds: number): Promise<void> => {
    await client.send(
      new ChangeMessageVisibilityCommand({
        QueueUrl: url,
        ReceiptHandle: receiptHandle,
        VisibilityTimeout: seconds,
      }),
    );
  };

interface Outgoing {
  body: string;
  /** `MessageGroupId` makes the queue fair: an organization's backlog does not delay others. */
  group: string;
  delay?: number;
}

/**
 * Sends messages in as few requests as number and size allow. A message that cannot be written or sent leaves
 * the others alone.
 * @param toMessage throws when an item is no message
 * @returns those that the queue did not take
 */
export async function sendBatches<T>(
  client: Pick<SQSClient, 'send'>,
  QueueUrl: string,
  items: readonly T[],
  toMessage: (item: T) => Outgoing,
): Promise<Failure<T>[]> {
  const refused: Failure<T>[] = [];
  const outgoing = items.flatMap((item) => {
    try {
      return [{ item, ...toMessage(item) }];
    } catch (error) {
      refused.push({ item, error });
      return [];
    }
  });
  const limits = { entries: MAX_BATCH_ENTRIES, bytes: REQUEST_BYTES };
  const batches = splitIntoChunks(outgoing, ({ body }) => Buffer.byteLength(body), limits);
  await Promise.all(
    batches.map(async (batch) => {
      const Entries = batch.map(({ body, group, delay = 0 }, index) => ({
        Id: String(index),
        MessageBody: body,
        MessageGroupId: group,
        ...(delay === 0 ? {} : { DelaySeconds: delay }),
      }));
      try {
        const { Failed = [] } = await client.send(new SendMessageBatchCommand({ QueueUrl, Entries }));
        const codes = new Map(Failed.map(({ Id, Code }) => [Number(Id), Code]));
        for (const [index, { item }] of batch.entries())
          if (codes.has(index)) refused.push({ item, error: new MessageRefused(codes.get(index)) });
      } catch (error) {
        for (const { item } of batch) refused.push({ item, error });
      }
    }),
  );
  return refused;
}
