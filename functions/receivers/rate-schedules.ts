import { all, assign, attribute, type Expression, expression } from '../aws/expression.ts';
import type { ReceiverId } from '../aws/ids.ts';
import { type Table, toExpiry, update } from '../aws/table.ts';
import { keys } from '../tenancy/keys.ts';
import { RateSchedule, type ScheduleUpdate } from './endpoint-rate.ts';

/** Longer than a delivery stays open. */
const KEPT_DAYS = 4;

function buildCondition({ rate, restarts, when }: ScheduleUpdate): Expression {
  const ranges = Object.entries(when).flatMap(([pointer, { over, upTo }]) => {
    const name = attribute(pointer);
    return [
      over === undefined ? undefined : expression`${name} > ${over}`,
      upTo === undefined ? undefined : expression`(attribute_not_exists(${name}) OR ${name} <= ${upTo})`,
    ];
  });
  const isOfRate = restarts
    ? expression`(attribute_not_exists(rate) OR rate <> ${rate})`
    : expression`rate = ${rate}`;
  return all(isOfRate, ...ranges);
}

/** Schedules of endpoints with a limit, apart from the endpoints: their items take a write for each batch. */
export function rateScheduleStore(rates: Table) {
  return {
    /**
     * Applies an update in one conditional write.
     * @returns whether its conditions held, and the schedule after it; undefined when there is none
     */
    async apply(
      id: ReceiverId,
      change: ScheduleUpdate,
      now: Date,
    ): Promise<{ applied: boolean; schedule: RateSchedule | undefined }> {
      const set = { expiresAt: toExpiry(now, KEPT_DAYS), rate: change.rate, ...change.set };
      const moved = Object.entries(change.add).map(([pointer, by]) => {
        const name = attribute(pointer);
        return expression`, ${name} = ${name} + ${by}`;
      });
      const { kind, row } = await update(rates, keys.rateSchedule(id), {
        update: moved.reduce((text, move) => expression`${text}${move}`, expression`SET ${assign(set)}`),
        if: buildCondition(change),
        returns: 'new',
      });
      return { applied: kind === 'done', schedule: row && RateSchedule.parse(row) };
    },
  };
}
