import { Reminder } from '../domain/delivery.ts';
import { logger } from './logger.ts';
import { UNREADABLE_MESSAGES } from './metric-names.ts';
import { countOne } from './metrics.ts';

/**
 * The reminder that a queue message holds. One that holds none can be dropped: every open delivery is in its table, whatever its message says.
 * @returns undefined, told by the log and a metric, when the message is no reminder
 */
export function parseReminder(body: string, messageId: string): Reminder | undefined {
  try {
    return Reminder.parse(JSON.parse(body));
  } catch (error) {
    logger.error('a queue message is no reminder and is dropped', { messageId, reason: String(error) });
    countOne(UNREADABLE_MESSAGES);
    return undefined;
  }
}
