import type { BusReports } from './event-bus.ts';
import { logger } from './logger.ts';
import { ABANDONED_ENTRIES } from './metric-names.ts';
import { count } from './metrics.ts';

/** Logs what the bus refuses, and counts what is given up, which rings an alarm. */
export const busReports: BusReports = {
  onRefusal: (refused) => logger.log('BUS_REFUSED', refused),
  onGivenUp({ event: { id, type, orgId, traceId }, bytes, error }) {
    logger.log('BUS_ENTRY_GIVEN_UP', { id, type, orgId, bytes, traceId, error });
    count(ABANDONED_ENTRIES);
  },
};
