import type { ReceiverId } from '../../functions/aws/ids.ts';
import type { TurnPorts } from '../../functions/delivery/endpoint-turns.ts';
import type { RateSchedule, ScheduleUpdate } from '../../functions/receivers/endpoint-rate.ts';

/**
 * Schedules of endpoints with a limit in memory. Each update takes effect at once, like a conditional write.
 */
export class MemoryRateSchedules {
  readonly #schedules = new Map<ReceiverId, RateSchedule>();

  apply: TurnPorts['schedules']['apply'] = async (id, update) => {
    const found = this.#schedules.get(id);
    if (!isAllowed(update, found)) return { applied: false, schedule: found };
    const schedule = { next: 0, queued: 0, parked: 0, ...found, ...update.set, rate: update.rate };
    for (const name of ['next', 'queued', 'parked'] as const) schedule[name] += update.add[name] ?? 0;
    this.#schedules.set(id, schedule);
    return { applied: true, schedule };
  };

  /** Loses a schedule, as the expendable table may. */
  lose(id: ReceiverId): void {
    this.#schedules.delete(id);
  }
}

function isAllowed({ rate, restarts, when }: ScheduleUpdate, found: RateSchedule | undefined): boolean {
  if ((found?.rate === rate) === restarts) return false;
  return (['next', 'queued', 'parked'] as const).every((name) => {
    const { over = Number.NEGATIVE_INFINITY, upTo = Number.POSITIVE_INFINITY } = when[name] ?? {};
    const value = found?.[name] ?? Number.NEGATIVE_INFINITY;
    return (when[name]?.over === undefined || value > over) && value <= upTo;
  });
}
