import {
  ChangeMessageVisibilityCommand,
  GetQueueAttributesCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import { BusEvent } from '../domain/bus.ts';
import { DeliveryMessage } from '../domain/delivery.ts';
import type { DeadLetter } from '../domain/events.ts';
import { CROWDED_IN_FLIGHT, type Lane, type QueueVariable } from '../domain/lanes.ts';
import { getMessageGroup } from '../domain/redelivery.ts';
import { computeDelaySeconds, computeVisibilitySeconds, MAX_DELAY_SECONDS } from '../domain/timing.ts';
import { REQUEST_BYTES, splitIntoChunks } from './chunks.ts';
import { logger } from './logger.ts';
import { UNREADABLE_MESSAGES } from './metric-names.ts';
import { count } from './metrics.ts';

/** Messages that SQS takes in one request. */
const ENTRIES = 10;

/**
 * The queue of a worker behind the bus, for who sends to it what the bus does not: the same messages as the
 * bus sends.
 */
export function workerQueue(client: SQSClient, url: string) {
  async function sendSome(some: readonly Outgoing[]): Promise<BusEvent[]> {
    const { Failed = [] } = await client.send(
      new SendMessageBatchCommand({
        QueueUrl: url,
        Entries: some.map(({ event, body }, index) => ({
          Id: String(index),
          MessageBody: body,
          MessageGroupId: event.orgId,
        })),
      }),
    );
    const failed = new Set(Failed.map(({ Id }) => Number(Id)));
    return some.filter((_, index) => failed.has(index)).map(({ event }) => event);
  }

  return {
    /**
     * Sends events, in as few requests as their number and size allow; gives back those that the queue did
     * not take. `MessageGroupId` makes the queue a fair one: an organization with very much to do does not
     * hold up the others.
     */
    async send(events: readonly BusEvent[]): Promise<BusEvent[]> {
      const outgoing = events.map((event) => ({
        event,
        body: JSON.stringify({ detail: BusEvent.parse(event) }),
      }));
      const limits = { entries: ENTRIES, bytes: REQUEST_BYTES };
      const requests = splitIntoChunks(outgoing, ({ body }) => Buffer.byteLength(body), limits);
      return (await Promise.all(requests.map(sendSome))).flat();
    },
  };
}

interface Outgoing {
  event: BusEvent;
  body: string;
}

/** Hides a received message for a number of seconds from now. @param url of the queue */
export const setVisibility =
  (client: SQSClient, url: string) =>
  async (receiptHandle: string, seconds: number): Promise<void> => {
    await client.send(
      new ChangeMessageVisibilityCommand({
        QueueUrl: url,
        ReceiptHandle: receiptHandle,
        VisibilityTimeout: seconds,
      }),
    );
  };

/** Sends entries of the outbox back to the dead-letter queue, for a later run. @param url of the queue */
export function toDelay(client: SQSClient, url: string) {
  return async (ids: readonly string[]): Promise<void> => {
    const letter: DeadLetter = { kind: 'entries', ids };
    await client.send(
      new SendMessageCommand({
        QueueUrl: url,
        MessageBody: JSON.stringify(letter),
        // The longest delay there is: what failed again will not recover in a moment.
        DelaySeconds: MAX_DELAY_SECONDS,
      }),
    );
  };
}

/** SQS takes at most ten messages in a request. */
const BATCH = 10;

/** How long a queue's own word on its messages is believed. Milliseconds. */
const GAUGE_MS = 5_000;

export interface OutgoingDeliveryMessage {
  message: DeliveryMessage;
  until?: Date;
}

/**
 * The URL of a queue, from the environment variable that the table names. @param table the queues of the
 * function
 */
export const queueUrls =
  <T extends Partial<Record<Lane, { queue: string }>>>(
    table: T,
    environment: Readonly<Record<QueueVariable<T>, string>>,
  ) =>
  (lane: keyof T & Lane): string =>
    environment[(table[lane] as { queue: QueueVariable<T> }).queue];

/** @param urlOf the queues that the function uses */
export function deliveryQueues<L extends Lane>(
  client: Pick<SQSClient, 'send'>,
  urlOf: (lane: L) => string,
  now: () => Date,
) {
  const gauges = new Map<Lane, { at: number; inFlight: Promise<number> }>();

  async function measure(
    lane: L,
    attribute: 'ApproximateNumberOfMessages' | 'ApproximateNumberOfMessagesNotVisible',
  ) {
    const { Attributes } = await client.send(
      new GetQueueAttributesCommand({ QueueUrl: urlOf(lane), AttributeNames: [attribute] }),
    );
    return Number(Attributes?.[attribute] ?? Number.NaN);
  }

  return {
    /**
     * Sends reminders; gives back those that the queue did not take. `MessageGroupId` makes the queue a fair one: an
     * organization with a backlog does not hold up the others.
     */
    async send(lane: L, messages: readonly OutgoingDeliveryMessage[]): Promise<DeliveryMessage[]> {
      const outgoing = messages.map(({ message, until }) => ({
        message,
        until,
        body: JSON.stringify(DeliveryMessage.parse(message)),
      }));
      const limits = { entries: BATCH, bytes: REQUEST_BYTES };
      const batches = splitIntoChunks(outgoing, ({ body }) => Buffer.byteLength(body), limits);
      const refused = await Promise.all(
        batches.map(async (batch) => {
          const { Failed = [] } = await client.send(
            new SendMessageBatchCommand({
              QueueUrl: urlOf(lane),
              Entries: batch.map(({ message, until, body }, index) => {
                const delay = until === undefined ? 0 : computeDelaySeconds(until, now());
                return {
                  Id: String(index),
                  MessageBody: body,
                  MessageGroupId: getMessageGroup(message),
                  ...(delay === 0 ? {} : { DelaySeconds: delay }),
                };
              }),
            }),
          );
          const failed = new Set(Failed.map((entry) => Number(entry.Id)));
          return batch.filter((_, index) => failed.has(index)).map(({ message }) => message);
        }),
      );
      return refused.flat();
    },

    /** Hides a received message so that it does not come back before `until`. */
    async hide(lane: L, receiptHandle: string, until: Date): Promise<void> {
      await client.send(
        new ChangeMessageVisibilityCommand({
          QueueUrl: urlOf(lane),
          ReceiptHandle: receiptHandle,
          VisibilityTimeout: computeVisibilitySeconds(until, now()),
        }),
      );
    },

    /**
     * Whether a lane nears its limit of messages in flight. Asked at most every few seconds, only where a
     * wait has to be held.
     */
    async crowded(lane: L): Promise<boolean> {
      const known = gauges.get(lane);
      const at = now().getTime();
      const gauge =
        known !== undefined && at - known.at < GAUGE_MS
          ? known
          : { at, inFlight: measure(lane, 'ApproximateNumberOfMessagesNotVisible') };
      gauges.set(lane, gauge);
      try {
        // Not a number when the queue did not say: then it is not below.
        return !((await gauge.inFlight) < CROWDED_IN_FLIGHT);
      } catch (error) {
        gauges.delete(lane);
        throw error;
      }
    },

    /** Messages that were received, or are hidden until their retry. */
    inFlight(lane: L): Promise<number> {
      return measure(lane, 'ApproximateNumberOfMessagesNotVisible');
    },

    /** Messages that could be received now. */
    backlog(lane: L): Promise<number> {
      return measure(lane, 'ApproximateNumberOfMessages');
    },
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
