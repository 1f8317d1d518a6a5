import type { DeliveryMessage, MessageDisposition, OutgoingMessage } from '../domain/delivery.ts';
import { isPatient, type Lane } from '../domain/lanes.ts';
import { memoize } from '../domain/memoize.ts';
import { isFromJob } from '../domain/redelivery.ts';
import { createGenerationCheck, type OrganizationStates } from '../domain/sandbox.ts';
import type { Tenant } from '../domain/tenant.ts';
import type { Log } from '../platform/log-codes.ts';
import type { AttemptContext } from './attempt-delivery.ts';
import { collectFailures, mapSettled } from './concurrency.ts';

/** A received message. */
export interface ReceivedDeliveryMessage {
  message: DeliveryMessage;
  /** Identifies this receive. */
  receiptHandle: string;
}

export interface DeliveryMessagePorts {
  /** Starts the delivery's next attempt; see `attemptDelivery`. */
  attempt(deliveryMessage: DeliveryMessage, context: AttemptContext, lane: Lane): Promise<MessageDisposition>;
  organizations: OrganizationStates;
  /**
   * Reads the endpoints and events of a batch.
   * @returns a function for the context of one message; it throws when a row cannot be read
   */
  contexts(
    deliveryMessages: readonly DeliveryMessage[],
  ): Promise<(deliveryMessage: DeliveryMessage) => Omit<AttemptContext, 'readAt'>>;
  queues: {
    send(lane: Lane, messages: readonly OutgoingMessage[]): Promise<DeliveryMessage[]>;
    hide(lane: Lane, receiptHandle: string, until: Date): Promise<void>;
  };
  log: Log;
  now: () => Date;
}

/**
 * Concurrent attempts of one batch for one organization. With the queue's number of batches it bounds what
 * one organization can use. In the slow and stalled queues a batch makes all attempts at once.
 */
export const ATTEMPTS_PER_ORGANIZATION = 4;

/**
 * Milliseconds that a message waits in a batch of the fresh or retry queue behind others of its organization
 * before it moves to the slow queue. It bounds the batch to this time and one attempt.
 */
export const HELD_UP_AFTER_MS = 200;

/** A job's deliveries must not hold up live events that came with them. */
function putLiveFirst(messages: readonly ReceivedDeliveryMessage[]): ReceivedDeliveryMessage[] {
  const isLive = ({ message }: ReceivedDeliveryMessage) => !isFromJob(message);
  return [...messages.filter(isLive), ...messages.filter((one) => !isLive(one))];
}

/**
 * Processes a batch of messages of one queue, all organizations at once. A message that cannot be processed
 * stays in the queue.
 * @returns the messages that stay; the others may be deleted
 */
export function processDeliveryMessages({
  attempt,
  organizations,
  contexts,
  queues,
  log,
  now,
}: DeliveryMessagePorts) {
  const logFailure = (
    { message: deliveryMessage }: ReceivedDeliveryMessage,
    error: unknown,
    traceId = deliveryMessage.traceId,
  ) => log('DELIVERY_LEFT', { deliveryId: deliveryMessage.id, traceId, error });

  /**
   * Drops messages of an older sandbox generation before anything is read for them: their rows are being
   * deleted. If the organization cannot be read, the message stays.
   */
  async function sortByGeneration(messages: readonly ReceivedDeliveryMessage[]) {
    const checkGeneration = createGenerationCheck({
      of: memoize((orgId: Tenant['orgId']) => organizations.of(orgId)),
    });
    const results = await mapSettled(messages, messages.length, ({ message: deliveryMessage }) =>
      checkGeneration(deliveryMessage),
    );
    const unknown = collectFailures(messages, results);
    for (const { item, error } of unknown) logFailure(item, error);
    const isCurrent = (result?: PromiseSettledResult<'current' | 'over'>) =>
      result?.status === 'fulfilled' && result.value === 'current';
    return {
      unknown: unknown.map(({ item }) => item),
      current: messages.filter((_, index) => isCurrent(results[index])),
    };
  }

  /**
   * Sends first and deletes later: two messages in between change no outcome.
   * @returns the messages that could not be sent
   */
  async function move(messages: readonly ReceivedDeliveryMessage[], to: Lane, until: Date) {
    const refused = await queues.send(
      to,
      messages.map(({ message: deliveryMessage }) => ({ message: deliveryMessage, until })),
    );
    return messages.filter(({ message: deliveryMessage }) => refused.includes(deliveryMessage));
  }

  /** As `move`; all messages stay when the slow queue cannot be reached. */
  async function moveHeldUp(messages: readonly ReceivedDeliveryMessage[]) {
    return move(messages, 'slow', now()).catch((error: unknown) => {
      for (const message of messages) logFailure(message, error);
      return messages;
    });
  }

  async function processMessage(
    message: ReceivedDeliveryMessage,
    getContext: (deliveryMessage: DeliveryMessage) => AttemptContext,
    lane: Lane,
  ): Promise<'stays' | 'done'> {
    const { message: deliveryMessage, receiptHandle } = message;
    let context: AttemptContext | undefined;
    try {
      context = getContext(deliveryMessage);
      const disposition = await attempt(deliveryMessage, context, lane);
      switch (disposition.kind) {
        case 'delete':
          return 'done';
        case 'keep':
          await queues.hide(lane, receiptHandle, disposition.until);
          return 'stays';
        case 'move': {
          const refused = await move([message], disposition.lane, disposition.until);
          return refused.length === 0 ? 'done' : 'stays';
        }
      }
    } catch (error) {
      logFailure(message, error, deliveryMessage.traceId ?? context?.event?.traceId);
      return 'stays';
    }
  }

  return async (
    lane: Lane,
    messages: readonly ReceivedDeliveryMessage[],
  ): Promise<ReceivedDeliveryMessage[]> => {
    const { unknown, current } = await sortByGeneration(messages);
    const staying = new Set(unknown);
    const readAt = now();
    const found = await contexts(current.map(({ message: deliveryMessage }) => deliveryMessage)).catch(
      (error: unknown) => () => {
        throw error;
      },
    );
    const getContext = (deliveryMessage: DeliveryMessage) => ({ ...found(deliveryMessage), readAt });
    const atOnce = isPatient(lane) ? Number.POSITIVE_INFINITY : ATTEMPTS_PER_ORGANIZATION;
    const heldUpAt = isPatient(lane) ? Number.POSITIVE_INFINITY : now().getTime() + HELD_UP_AFTER_MS;

    /** @param waiting messages of one organization, taken one by one by several concurrent calls */
    async function processWaiting(waiting: ReceivedDeliveryMessage[]): Promise<void> {
      while (now().getTime() < heldUpAt) {
        const message = waiting.shift();
        if (message === undefined) return;
        if ((await processMessage(message, getContext, lane)) === 'stays') staying.add(message);
      }
      const heldUp = waiting.splice(0);
      if (heldUp.length === 0) return;
      for (const message of await moveHeldUp(heldUp)) staying.add(message);
    }

    const byOrganization = Map.groupBy(putLiveFirst(current), ({ message: { orgId } }) => orgId);
    await Promise.all(
      [...byOrganization.values()].flatMap((waiting) =>
        Array.from({ length: Math.min(atOnce, waiting.length) }, () => processWaiting(waiting)),
      ),
    );
    return messages.filter((message) => staying.has(message));
  };
}
