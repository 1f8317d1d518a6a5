import { Reminder } from '../domain/delivery.ts';
import { logger } from './logger.ts';
import { UNREADABLE_MESSAGES } from './metric-names.ts';
import { count } from './metrics.ts';

/**
 * Parses the body of a delivery message. An unreadable message may be dropped: every open delivery is in its table.
 * @returns undefined, after a report, when the body is unreadable
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
