import type { UnreadableRow } from '../domain/due.ts';
import type { BusReports } from './event-bus.ts';
import { logger } from './logger.ts';
import { ABANDONED_ENTRIES, UNREADABLE_ROWS } from './metric-names.ts';
import { count } from './metrics.ts';

/** Reports an unreadable row that was left out. */
export function reportUnreadable({ pk, sk, error }: UnreadableRow): void {
  logger.log('ROW_UNREADABLE', { pk, sk, error });
  count(UNREADABLE_ROWS);
}

/** Logs refused entries, and counts abandoned ones. */
export const busReports: BusReports = {
  onRefusal: (refused) => logger.log('BUS_REFUSED', refused),
  onGivenUp({ event: { id, type, orgId, traceId }, bytes, error }) {
    logger.log('BUS_ENTRY_GIVEN_UP', { id, type, orgId, bytes, traceId, error });
    count(ABANDONED_ENTRIES);
  },
};
