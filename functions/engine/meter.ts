import type { BusEvent } from '../domain/bus.ts';
import type { Gate, Permit } from '../domain/gate.ts';
import { isMetered, type MeteredEvent } from '../domain/usage.ts';
import type { Log } from '../platform/log-codes.ts';

export interface MeterUsagePorts {
  gate: Gate;
  /**
   * Counts each event of the permit's organization once.
   * @returns events that may not be counted
   */
  usage: { count(events: readonly MeteredEvent[], permit: Permit): Promise<MeteredEvent[]> };
  log: Log;
}

/**
 * Counts the usage of live organizations; sandboxes have no billable usage (docs/specification.md, Sandbox).
 * Each organization of a batch passes the gate on its own, so that one failure does not block others.
 * @returns the events to retry
 */
export function meterUsage({ gate, usage, log }: MeterUsagePorts) {
  return async (events: readonly BusEvent[]): Promise<BusEvent[]> => {
    const retried = new Set<string>();
    const byOrganization = Map.groupBy(events.filter(isMetered), ({ orgId }) => orgId);
    await Promise.all(
      [...byOrganization].map(async ([orgId, metered]) => {
        try {
          const left = await gate(orgId, {
            live: (permit) => usage.count(metered, permit),
            sandbox: async () => [],
          });
          for (const { id } of left) retried.add(id);
          if (left.length > 0) log('USAGE_CONTENDED', { orgId, events: left.length });
        } catch (error) {
          for (const { id } of metered) retried.add(id);
          log('USAGE_NOT_COUNTED', { orgId, events: metered.length, error });
        }
      }),
    );
    return events.filter(({ id }) => retried.has(id));
  };
}
