import { all, assign, expression, unchanged } from '../aws/expression.ts';
import type { ReceiverId } from '../aws/ids.ts';
import { Contended, get, type Table, toExpiry, update } from '../aws/table.ts';
import { keys } from '../tenancy/keys.ts';
import { CHANGE_MS, RateSchedule } from './endpoint-rate.ts';

/** Longer than a delivery stays open. */
const KEPT_DAYS = 4;
/** Tries of an update under concurrent ones, each from the schedule that refused the last. */
const TRIES = 8;

export type RateScheduleStore = ReturnType<typeof rateScheduleStore>;

/** Schedules of endpoints with a limit, apart from the endpoints: their items take a write for each batch. */
export function rateScheduleStore(rates: Table) {
  return {
    async find(id: ReceiverId): Promise<RateSchedule | undefined> {
      const row = await get(rates, keys.rateSchedule(id));
      return row && RateSchedule.parse(row);
    },

    /**
     * Takes consecutive times of an endpoint, from its next free one on.
     * @param seen the schedule as last read
     */
    async take(
      id: ReceiverId,
      { seen, rate, count, now }: { seen: RateSchedule | undefined; rate: number; count: number; now: Date },
    ): Promise<{ era: number; times: number[] }> {
      const [nowMs, intervalMs] = [now.getTime(), 1000 / rate];
      const spanMs = count * intervalMs;
      let last = seen;
      for (let tried = 0; tried < TRIES; tried += 1) {
        const isSame = last?.rate === rate;
        const isAhead = isSame && Number(last?.next) > nowMs;
        const first = last === undefined || isSame ? nowMs : nowMs + CHANGE_MS;
        const next = isAhead ? expression`#next + ${spanMs}` : expression`${first + spanMs}`;
        const era = (last?.era ?? 0) + (isSame ? 0 : 1);
        const isBehind = isSame && !isAhead ? expression`#next <= ${nowMs}` : undefined;
        const { kind, row } = await update(rates, keys.rateSchedule(id), {
          update: expression`SET ${assign({ rate, era, expiresAt: toExpiry(now, KEPT_DAYS) })}, #next = ${next}`,
          if: all(unchanged({ era: last?.era }, ['era']), isBehind),
          returns: 'new',
        });
        last = row && RateSchedule.parse(row);
        const end = Number(last?.next);
        if (kind === 'done')
          return { era, times: Array.from({ length: count }, (_, n) => end - spanMs + n * intervalMs) };
      }
      throw new Contended(`the schedule of ${id} changed ${TRIES} times`);
    },
  };
}
