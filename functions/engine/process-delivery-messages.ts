import type { DeliveryMessage, MessageDisposition, OutgoingMessage } from '../domain/delivery.ts';
import { isFor } from '../domain/events.ts';
import { isPatient, type Lane } from '../domain/lanes.ts';
import { memoize } from '../domain/memoize.ts';
import { isFromJob } from '../domain/redelivery.ts';
import { createGenerationCheck, type OrganizationStates } from '../domain/sandbox.ts';
import type { Tenant } from '../domain/tenant.ts';
import type { Log } from '../platform/log-codes.ts';
import type { AttemptContext } from './attempt-delivery.ts';
import { collectFailures, mapSettled } from './concurrency.ts';
import type { LimitedMessage, Turn } from './endpoint-turns.ts';

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
  /** Gives messages of endpoints with a limit their turns; called for those only (`endpointTurns`). */
  turns(messages: readonly LimitedMessage[]): Promise<Map<DeliveryMessage, Turn>>;
  /** Waits for a start that is less than a second ahead. */
  wait(ms: number): Promise<unknown>;
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
  turns,
  wait,
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

  /** Applies a disposition to a message. */
  async function dispose(
    message: ReceivedDeliveryMessage,
    disposition: MessageDisposition,
    lane: Lane,
  ): Promise<'stays' | 'done'> {
    switch (disposition.kind) {
      case 'delete':
        return 'done';
      case 'keep':
        await queues.hide(lane, message.receiptHandle, disposition.until);
        return 'stays';
      case 'move': {
        const refused = await move([message], disposition.lane, disposition.until);
        return refused.length === 0 ? 'done' : 'stays';
      }
    }
  }

  async function processMessage(
    message: ReceivedDeliveryMessage,
    getContext: (deliveryMessage: DeliveryMessage) => AttemptContext,
    lane: Lane,
    apply = dispose,
  ): Promise<'stays' | 'done'> {
    const { message: deliveryMessage } = message;
    let context: AttemptContext | undefined;
    try {
      context = getContext(deliveryMessage);
      return await apply(message, await attempt(deliveryMessage, context, lane), lane);
    } catch (error) {
      logFailure(message, error, deliveryMessage.traceId ?? context?.event?.traceId);
      return 'stays';
    }
  }

  /**
   * Replaces messages by those that arrive at their places, in as few requests as possible; all stay when the
   * queue cannot be reached.
   */
  async function requeue(
    queueing: readonly { received: ReceivedDeliveryMessage; outgoing: OutgoingMessage }[],
    lane: Lane,
  ): Promise<ReceivedDeliveryMessage[]> {
    if (queueing.length === 0) return [];
    try {
      const refused = await queues.send(
        lane,
        queueing.map(({ outgoing }) => outgoing),
      );
      const ids = new Set(refused.map(({ id }) => id));
      return queueing.flatMap(({ received }) => (ids.has(received.message.id) ? [received] : []));
    } catch (error) {
      for (const { received } of queueing) logFailure(received, error);
      return queueing.map(({ received }) => received);
    }
  }

  /**
   * Processes the messages of endpoints with a limit. Those with a turn are attempted all at once, because
   * the limit spreads them.
   * @returns the messages that stay
   */
  async function processLimited(
    limited: readonly ReceivedLimitedMessage[],
    getContext: (deliveryMessage: DeliveryMessage) => AttemptContext,
    lane: Lane,
  ): Promise<ReceivedDeliveryMessage[]> {
    if (limited.length === 0) return [];
    const given = await turns(limited);
    const queueing = limited.flatMap(({ received, message }) => {
      const turn = given.get(message);
      return turn?.kind === 'queue' ? [{ received, outgoing: turn }] : [];
    });
    const results = await Promise.all([
      requeue(queueing, lane),
      ...limited.map(async ({ received, message }) => {
        const turn = given.get(message);
        if (turn?.kind === 'queue') return [];
        try {
          return (await processTurn(received, turn, getContext, lane)) === 'stays' ? [received] : [];
        } catch (error) {
          logFailure(received, error);
          return [received];
        }
      }),
    ]);
    return results.flat();
  }

  /**
   * Applies the disposition of an attempt at an endpoint with a limit. A wait for the next attempt is no wait
   * for a turn, so the message that returns from it is as good as new.
   */
  async function disposeLimited(
    received: ReceivedDeliveryMessage,
    disposition: MessageDisposition,
    lane: Lane,
  ): Promise<'stays' | 'done'> {
    const { waited, ...message } = received.message;
    if (waited === undefined || disposition.kind === 'delete' || disposition.until <= now())
      return dispose(received, disposition, lane);
    const to = disposition.kind === 'move' ? disposition.lane : lane;
    const refused = await queues.send(to, [{ message, until: disposition.until }]);
    return refused.length > 0 ? 'stays' : 'done';
  }

  async function processTurn(
    received: ReceivedDeliveryMessage,
    turn: Exclude<Turn, { kind: 'queue' }> | undefined,
    getContext: (deliveryMessage: DeliveryMessage) => AttemptContext,
    lane: Lane,
  ): Promise<'stays' | 'done'> {
    if (turn?.kind === 'leave') return dispose(received, turn.disposition, lane);
    if (turn?.kind !== 'start') throw turn?.error;
    const ms = turn.at - now().getTime();
    if (ms > 0) await wait(ms);
    return processMessage(received, getContext, lane, disposeLimited);
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
    const { limited, others } = sortByLimit(current, getContext);
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

    const byOrganization = Map.groupBy(putLiveFirst(others), ({ message: { orgId } }) => orgId);
    await Promise.all([
      ...[...byOrganization.values()].flatMap((waiting) =>
        Array.from({ length: Math.min(atOnce, waiting.length) }, () => processWaiting(waiting)),
      ),
      processLimited(limited, getContext, lane).then((left) => {
        for (const message of left) staying.add(message);
      }),
    ]);
    return messages.filter((message) => staying.has(message));
  };
}

type ReceivedLimitedMessage = LimitedMessage & { received: ReceivedDeliveryMessage };

/**
 * Separates the messages that would be attempted at an endpoint with a limit. One whose context cannot be
 * read is among the others, and fails there.
 */
function sortByLimit(
  messages: readonly ReceivedDeliveryMessage[],
  getContext: (deliveryMessage: DeliveryMessage) => AttemptContext,
) {
  const limited: ReceivedLimitedMessage[] = [];
  const others: ReceivedDeliveryMessage[] = [];
  for (const received of messages) {
    const { message } = received;
    const maxPerSecond = findLimit(() => getContext(message));
    if (maxPerSecond === undefined) others.push(received);
    else limited.push({ received, message, maxPerSecond });
  }
  return { limited, others };
}

function findLimit(getContext: () => AttemptContext): number | undefined {
  try {
    const { endpoint, event } = getContext();
    return endpoint?.status === 'active' && event !== undefined && isFor(event, endpoint)
      ? endpoint.maxPerSecond
      : undefined;
  } catch {
    return undefined;
  }
}
