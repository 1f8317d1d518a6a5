import type { UnreadableRow } from '../domain/due.ts';
import { logger } from './logger.ts';
import { UNREADABLE_ROWS } from './metric-names.ts';
import { count } from './metrics.ts';

/** Reports a stored row that was left out because it cannot be read, to the log and to its alarm. */
export function reportUnreadable({ pk, sk, error }: UnreadableRow): void {
  logger.log('ROW_UNREADABLE', { pk, sk, error });
  count(UNREADABLE_ROWS);
}
