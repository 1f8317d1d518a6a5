import { Reminder } from '../domain/delivery.ts';
import { logger } from './logger.ts';
import { UNREADABLE_MESSAGES } from './metric-names.ts';
import { count } from './metrics.ts';

/**
 * The reminder that a queue message holds. One that holds none can be dropped: every open delivery is in its table, whatever its message says.
 * @returns undefined, told by the log and a metric, when the message is no reminder
 */
export function parseReminder(body: string, messageId: string): Reminder | undefined {
  try {
    return Reminder.parse(JSON.parse(body));
  } catch (error) {
    logger.log('REMINDER_UNREADABLE', { messageId, error });
    count(UNREADABLE_MESSAGES);
    return undefined;
  }
}
