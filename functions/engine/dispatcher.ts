import type { Disposition, Reminder } from '../domain/delivery.ts';
import { isPatient, type Lane } from '../domain/lanes.ts';
import { mapConcurrently } from './concurrency.ts';
import type { DispatchContext } from './dispatch.ts';
import type { Log } from './log.ts';
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
  /** Reads what a batch needs, and everything without which no attempt can be made: one that is claimed counts. */
  contexts(reminders: readonly Reminder[]): Promise<(reminder: Reminder) => DispatchContext>;
  queues: {
    send(lane: Lane, messages: readonly Outgoing[]): Promise<Reminder[]>;
    hide(lane: Lane, receiptHandle: string, until: Date): Promise<void>;
  };
  log: Log;
}

/**
 * Attempts that one batch makes at one endpoint at once. Together with the number of batches that a lane may have under way, it bounds what
 * one endpoint can take of it. In the slow and the stalled lane all of a batch go at once: they are there to wait.
 */
export const ATTEMPTS_PER_ENDPOINT = 4;

/**
 * Deals with a batch of messages of one lane, all endpoints at once.
 * @returns those that stay in the lane; the others may be deleted
 */
export function dispatcher({ deal, contexts, queues, log }: DispatcherPorts) {
  async function dealWith(
    { reminder, receiptHandle }: ReceivedReminder,
    context: DispatchContext,
    lane: Lane,
  ): Promise<'stays' | 'done'> {
    try {
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
      const traceId = reminder.traceId ?? context.event?.traceId;
      log('DELIVERY_LEFT', { deliveryId: reminder.id, traceId, error });
      return 'stays';
    }
  }

  return async (lane: Lane, messages: readonly ReceivedReminder[]): Promise<ReceivedReminder[]> => {
    const contextOf = await contexts(messages.map(({ reminder }) => reminder));
    const byEndpoint = Map.groupBy(messages, ({ reminder }) => reminder.webhookId);
    const atOnce = isPatient(lane) ? Number.POSITIVE_INFINITY : ATTEMPTS_PER_ENDPOINT;
    const fates = await Promise.all(
      [...byEndpoint.values()].map((group) =>
        mapConcurrently(group, atOnce, async (message) => ({
          message,
          fate: await dealWith(message, contextOf(message.reminder), lane),
        })),
      ),
    );
    return fates.flat().flatMap(({ message, fate }) => (fate === 'stays' ? [message] : []));
  };
}
