import type { Disposition, Reminder } from '../domain/delivery.ts';
import { isPatient, type Lane } from '../domain/lanes.ts';
import type { Tenant } from '../domain/tenant.ts';
import { failuresOf, mapConcurrently, mapSettled } from './concurrency.ts';
import type { DispatchContext } from './dispatch.ts';
import { generations, type Standings } from './generations.ts';
import type { Log } from './log.ts';
import { memoize } from './memoize.ts';
import type { Outgoing } from './queues.ts';

/** A message as it was received. */
export interface ReceivedReminder {
  reminder: Reminder;
  /** Names this receive of the message. */
  receiptHandle: string;
}

export interface DispatcherPorts {
  /** What `dispatch` does with one reminder. */
  deal(reminder: Reminder, context: DispatchContext, lane: Lane): Promise<Disposition>;
  standings: Standings;
  /**
   * Reads the endpoints and events of a batch.
   * @returns the context of one message; throws when a row that it needs cannot be read
   */
  contexts(reminders: readonly Reminder[]): Promise<(reminder: Reminder) => Omit<DispatchContext, 'readAt'>>;
  queues: {
    send(lane: Lane, messages: readonly Outgoing[]): Promise<Reminder[]>;
    hide(lane: Lane, receiptHandle: string, until: Date): Promise<void>;
  };
  log: Log;
  now: () => Date;
}

/**
 * Attempts that one batch makes at one endpoint at once. Together with the number of batches that a lane may have under way, it bounds what
 * one endpoint can take of it. In the slow and the stalled lane all of a batch go at once: they are there to wait.
 */
export const ATTEMPTS_PER_ENDPOINT = 4;

/**
 * Processes a batch of messages of one lane, all endpoints at once. A message that cannot be processed stays in the lane, alone.
 * @returns those that stay in the lane; the others may be deleted
 */
export function dispatcher({ deal, standings, contexts, queues, log, now }: DispatcherPorts) {
  const leave = ({ reminder }: ReceivedReminder, error: unknown, traceId = reminder.traceId) =>
    log('DELIVERY_LEFT', { deliveryId: reminder.id, traceId, error });

  /**
   * Drops messages of an older sandbox generation before anything is read for them: their rows are being deleted.
   * If the organization cannot be read, the message stays.
   */
  async function sortByGeneration(messages: readonly ReceivedReminder[]) {
    const generationOf = generations({ of: memoize((orgId: Tenant['orgId']) => standings.of(orgId)) });
    const results = await mapSettled(messages, messages.length, ({ reminder }) => generationOf(reminder));
    const unknown = failuresOf(messages, results);
    for (const { item, error } of unknown) leave(item, error);
    const isCurrent = (result?: PromiseSettledResult<'current' | 'over'>) =>
      result?.status === 'fulfilled' && result.value === 'current';
    return {
      unknown: unknown.map(({ item }) => item),
      current: messages.filter((_, index) => isCurrent(results[index])),
    };
  }

  async function dealWith(
    message: ReceivedReminder,
    contextOf: (reminder: Reminder) => DispatchContext,
    lane: Lane,
  ): Promise<'stays' | 'done'> {
    const { reminder, receiptHandle } = message;
    let context: DispatchContext | undefined;
    try {
      context = contextOf(reminder);
      const disposition = await deal(reminder, context, lane);
      switch (disposition.kind) {
        case 'delete':
          return 'done';
        case 'keep':
          await queues.hide(lane, receiptHandle, disposition.until);
          return 'stays';
        case 'move': {
          // First there, then gone from here: in between there are two, which does no harm.
          const refused = await queues.send(disposition.lane, [{ reminder, until: disposition.until }]);
          return refused.length === 0 ? 'done' : 'stays';
        }
      }
    } catch (error) {
      leave(message, error, reminder.traceId ?? context?.event?.traceId);
      return 'stays';
    }
  }

  return async (lane: Lane, messages: readonly ReceivedReminder[]): Promise<ReceivedReminder[]> => {
    const { unknown, current } = await sortByGeneration(messages);
    const staying = new Set(unknown);
    const readAt = now();
    const found = await contexts(current.map(({ reminder }) => reminder)).catch((error: unknown) => () => {
      throw error;
    });
    const contextOf = (reminder: Reminder) => ({ ...found(reminder), readAt });
    const byEndpoint = Map.groupBy(current, ({ reminder }) => reminder.webhookId);
    const atOnce = isPatient(lane) ? Number.POSITIVE_INFINITY : ATTEMPTS_PER_ENDPOINT;
    await Promise.all(
      [...byEndpoint.values()].map((group) =>
        mapConcurrently(group, atOnce, async (message) => {
          if ((await dealWith(message, contextOf, lane)) === 'stays') staying.add(message);
        }),
      ),
    );
    return messages.filter((message) => staying.has(message));
  };
}
