import { memoize } from '../aws/cache.ts';
import { collectCalls, collectFailures, mapSettled } from '../aws/concurrency.ts';
import type { Log } from '../aws/log-codes.ts';
import { type BatchRead, get, getBatch, type Key, type Row, type Table, Throttled } from '../aws/table.ts';
import { isErasedConversation } from '../conversations/conversations.ts';
import { eraseEvent, OutboxEvent } from '../events/events.ts';
import { Endpoint, endpointStateStore } from '../receivers/endpoint.ts';
import { endpointPaces, SLOW_AFTER_SECONDS } from '../receivers/pace.ts';
import { keys } from '../tenancy/keys.ts';
import { createGenerationCheck, type OrganizationStates } from '../tenancy/organizations.ts';
import type { Tenant } from '../tenancy/tenant.ts';
import { type AttemptContext, type AttemptPorts, attemptDelivery } from './attempt.ts';
import type { DeliveryMessage } from './delivery.ts';
import { attemptsAllAtOnce, type Lane } from './lanes.ts';
import type { deliveryQueues } from './queues.ts';
import { isFromJob } from './redelivery.ts';
import { deliveryMoves, deliveryStore } from './rows.ts';
import { type MessageDisposition, settlements } from './settle.ts';
import { deriveAttemptClocks, type RetryPolicy } from './timing.ts';
import { endpointTurns, rateScheduleStore } from './turns.ts';

/**
 * Dispatches messages over tables, in this order: generation, context, pace, turn, claim, request, end.
 * @returns a function that processes a batch; see `processDeliveryMessages`
 */
export function dispatcher(
  tables: Record<'service' | 'outbox' | 'deliveries' | 'rates', Table>,
  ports: Omit<AttemptPorts, 'deliveries' | 'paces' | 'takeTurn'> &
    Omit<DeliveryMessagePorts, 'attempt' | 'contexts'>,
  terms: {
    retry: RetryPolicy;
    leaseSeconds: number;
    /** A receiver's deadline. */
    attemptSeconds: number;
    /** Seconds past due after which a delivery's message counts as lost. */
    graceSeconds: number;
  },
) {
  const { service, outbox } = tables;
  const { log, now } = ports;
  const { maxAttempts } = terms.retry;
  const { functionTimeout: commitSeconds } = deriveAttemptClocks(terms.attemptSeconds);
  const deliveries = {
    ...deliveryStore(tables.deliveries),
    ...deliveryMoves(tables.deliveries),
    ...settlements(tables, { ...terms, ...ports, maxAttempts, commitSeconds }),
  };
  const paces = endpointPaces({ ...endpointStateStore(service), log, now }, terms.attemptSeconds);
  const takeTurn = endpointTurns({ schedules: rateScheduleStore(tables.rates), deliveries, log, now });
  return processDeliveryMessages({
    ...ports,
    attempt: attemptDelivery({ ...ports, deliveries, paces, takeTurn }, terms),
    contexts: deliveryContexts(service, outbox, (error) => log('BATCH_READ_REFUSED', { error })),
  });
}

/** A received message. */
export interface ReceivedDeliveryMessage {
  message: DeliveryMessage;
  /** Identifies this receive. */
  receiptHandle: string;
}

export interface DeliveryMessagePorts {
  attempt: ReturnType<typeof attemptDelivery>;
  organizations: OrganizationStates;
  contexts: ReturnType<typeof deliveryContexts>;
  queues: Pick<ReturnType<typeof deliveryQueues<Lane>>, 'send' | 'hide'>;
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
 * before it moves to the slow queue. It bounds the batch to this time and one attempt. A full batch has begun
 * its last attempts by then if each takes less than `SLOW_AFTER_SECONDS`, and its reads and writes 250 ms.
 */
export const HELD_UP_AFTER_MS = 2 * (SLOW_AFTER_SECONDS * 1000 + 250);

type Move = Extract<MessageDisposition, { kind: 'move' }>;

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
  const logFailure = ({ message }: ReceivedDeliveryMessage, error: unknown, traceId = message.traceId) =>
    log('DELIVERY_LEFT', { deliveryId: message.id, traceId, error });

  /**
   * Drops messages of an older sandbox generation before anything is read for them: their rows are being
   * deleted. If the organization cannot be read, the message stays.
   */
  async function sortByGeneration(messages: readonly ReceivedDeliveryMessage[]) {
    const checkGeneration = createGenerationCheck({
      of: memoize((orgId: Tenant['orgId']) => organizations.of(orgId)),
    });
    const results = await mapSettled(messages, messages.length, ({ message }) => checkGeneration(message));
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
   * Sends first and deletes later: two messages in between change no outcome. Messages that move at the same
   * time share a request.
   */
  const move = collectCalls<{ message: DeliveryMessage; to: Move }, void>(async (calls) => {
    const byLane = Map.groupBy(calls, ({ item: { to } }) => to.lane);
    await Promise.all(
      [...byLane].map(async ([lane, own]) => {
        const outgoing = own.map(({ item: { message, to }, reject }) => ({
          message,
          until: to.until,
          reject,
        }));
        for (const { item, error } of await queues.send(lane, outgoing)) item.reject(error);
        // Those that were rejected stay so.
        for (const { resolve } of own) resolve();
      }),
    );
  });

  return async (
    lane: Lane,
    messages: readonly ReceivedDeliveryMessage[],
  ): Promise<ReceivedDeliveryMessage[]> => {
    const { unknown, current } = await sortByGeneration(messages);
    const staying = new Set(unknown);
    const getContext = await contexts(current.map(({ message }) => message)).catch((error: unknown) => () => {
      throw error;
    });
    const atOnce = attemptsAllAtOnce(lane) ? Number.POSITIVE_INFINITY : ATTEMPTS_PER_ORGANIZATION;
    const heldUpAt = attemptsAllAtOnce(lane) ? Number.POSITIVE_INFINITY : now().getTime() + HELD_UP_AFTER_MS;

    const logAndKeep = (message: ReceivedDeliveryMessage, error: unknown, context?: AttemptContext) => {
      logFailure(message, error, message.message.traceId ?? context?.event?.traceId);
      staying.add(message);
    };
    const disposing: Promise<void>[] = [];
    async function dispose(
      received: ReceivedDeliveryMessage,
      disposition: MessageDisposition,
      context?: AttemptContext,
    ): Promise<void> {
      try {
        if (disposition.kind === 'move') await move({ message: received.message, to: disposition });
        if (disposition.kind !== 'keep') return;
        await queues.hide(lane, received.receiptHandle, disposition.until);
        staying.add(received);
      } catch (error) {
        logAndKeep(received, error, context);
      }
    }

    /** @param waiting messages of one organization, taken one by one by several concurrent calls */
    async function processWaiting(waiting: ReceivedDeliveryMessage[]): Promise<void> {
      while (now().getTime() < heldUpAt) {
        const message = waiting.shift();
        if (message === undefined) return;
        let context: AttemptContext | undefined;
        try {
          context = getContext(message.message);
          const disposition = await attempt(message.message, context, lane);
          // Does not hold up the next message.
          disposing.push(dispose(message, disposition, context));
        } catch (error) {
          logAndKeep(message, error, context);
        }
      }
      for (const message of waiting.splice(0))
        disposing.push(dispose(message, { kind: 'move', lane: 'slow', until: now() }));
    }

    const byOrganization = Map.groupBy(putLiveFirst(current), ({ message: { orgId } }) => orgId);
    await Promise.all(
      [...byOrganization.values()].flatMap((waiting) =>
        Array.from({ length: Math.min(atOnce, waiting.length) }, () => processWaiting(waiting)),
      ),
    );
    await Promise.all(disposing);
    return messages.filter((message) => staying.has(message));
  };
}

/**
 * Reads the endpoints and events of a batch, each once, in one request. Eventually consistent, at half the
 * price: events never change but for an erasure, and an endpoint's change may take effect after the attempt
 * starts. Missing rows may be new, and are read again consistently. Where DynamoDB throttles, nothing is read
 * again: the messages return later.
 * @param reportRefusal receives the error of a request that DynamoDB refused for one of its rows: then each
 * row is read alone, so that it has its own error
 * @returns a function for the context of one delivery; it throws when a row cannot be read
 */
export function deliveryContexts(service: Table, outbox: Table, reportRefusal: (error: unknown) => void) {
  const isErased = isErasedConversation(service);

  /** No attempt sends a message's text once its conversation is erased; the purge erases other events. */
  async function withoutErased(eventAt: (key: Key) => OutboxEvent | undefined, key: Key) {
    const event = eventAt(key);
    if (event?.type !== 'channel.message') return event;
    return (await isErased(event, event.conversationId)) ? eraseEvent(event) : event;
  }

  /** Returns the rows of these keys, each with its own failure. */
  async function readAll<T>(
    table: Table,
    wanted: ReadonlyMap<string, Key>,
    { rows: read, unread }: BatchRead,
    parse: (row: Row) => T,
  ): Promise<(key: Key) => T | undefined> {
    const rows = new Map(read.get(table.name)?.map((row) => [buildRowName(row), row]));
    const throttled = new Set(unread.get(table.name)?.map(buildRowName));
    const results = await Promise.allSettled(
      [...wanted].map(async ([name, key]) => {
        if (throttled.has(name)) throw new Throttled(`a row of ${table.name} was not read`);
        const row = rows.get(name) ?? (await get(table, key));
        return row && parse(row);
      }),
    );
    const byName = new Map([...wanted.keys()].map((name, index) => [name, results[index]]));
    return (key) => {
      const result = byName.get(buildRowName(key));
      if (result?.status === 'rejected') throw result.reason;
      return result?.value;
    };
  }

  return async (refs: readonly DeliveryMessage[]): Promise<(ref: DeliveryMessage) => AttemptContext> => {
    // DynamoDB refuses a request without keys.
    if (refs.length === 0) return () => ({ endpoint: undefined, event: undefined });

    const endpointKeys = indexByName(refs.map(buildEndpointKey));
    const eventKeys = indexByName(refs.map(buildEventKey));
    const batch = await getBatch(service, [
      { table: service, keys: [...endpointKeys.values()] },
      { table: outbox, keys: [...eventKeys.values()] },
    ]).catch((error: unknown): BatchRead => {
      if (!isRowRefused(error)) throw error;
      reportRefusal(error);
      return { rows: new Map(), unread: new Map(), units: 0 };
    });
    const [endpointAt, eventAt] = await Promise.all([
      readAll(service, endpointKeys, batch, (row) => Endpoint.parse(row)),
      readAll(outbox, eventKeys, batch, (row) => OutboxEvent.parse(row)),
    ]);
    const events = await Promise.allSettled(refs.map((ref) => withoutErased(eventAt, buildEventKey(ref))));
    return (ref) => {
      const event = events[refs.indexOf(ref)];
      if (event?.status === 'rejected') throw event.reason;
      return { endpoint: endpointAt(buildEndpointKey(ref)), event: event?.value };
    };
  };
}

const buildEndpointKey = ({ orgId, webhookId }: DeliveryMessage): Key => keys.endpoint(orgId, webhookId);
const buildEventKey = ({ eventId, ...tenant }: DeliveryMessage): Key => keys.event(tenant, eventId);

const buildRowName = ({ pk, sk }: Row | Key): string => JSON.stringify([pk, sk]);
const indexByName = (wanted: readonly Key[]): Map<string, Key> =>
  new Map(wanted.map((key) => [buildRowName(key), key]));

/** One row that DynamoDB refuses, for example by a malformed key, rejects the whole request. */
const isRowRefused = (error: unknown): boolean =>
  error instanceof Error && ['ValidationException', 'AccessDeniedException'].includes(error.name);
