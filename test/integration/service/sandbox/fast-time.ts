import { beforeAll, describe, expect, it } from 'vitest';
import { FAILURES_TO_DISABLE } from '../../../../functions/domain/endpoint.ts';
import { MAX_ATTEMPTS } from '../../../../functions/domain/timing.ts';
import type { ApiClient } from '../../../support/api.ts';
import { idIn } from '../../../support/resources.ts';
import type { Place } from '../place.ts';
import { storeFailures } from '../stored-failures.ts';
import { eventually } from './eventually.ts';

/**
 * Starts of attempts at real speed, in seconds after the first: 30 s, then each wait twice the one before
 * (docs/specification.md, Retries).
 */
const SCHEDULE = [0, 30, 90, 210, 450, 930, 1890, 3810];
/** The same when each attempt takes its timeout of 10 s: a wait starts when the attempt ends. */
const SCHEDULE_OF_TIMEOUTS = SCHEDULE.map((seconds, index) => seconds + 10 * index);

type Delivery = Record<string, unknown> & {
  status: string;
  attempts: number;
  atRealSpeed: { nextRetryAt: string | null; terminalAt: string | null } | null;
};
interface Attempt {
  number: number;
  startedAt: string;
  durationMs: number;
  atRealSpeed: { startedAt: string; durationMs: number };
}

/**
 * With a simulated speed, an hour of retries takes seconds, and deliveries show the times at real speed. Runs
 * the stack's own schedules.
 */
export function fastTime(place: Place): void {
  let api: ApiClient;

  beforeAll(async () => {
    ({ api } = (await place.pair()).sandbox);
  });

  async function subscribe(query: string): Promise<string> {
    const { id } = await api.register(`https://hooks.example.com/?${query}`, ['ticket.created']);
    return `/api/v1/webhooks/${id}`;
  }

  const test = async (path: string): Promise<string> => {
    const { body } = await api.post(`${path}/test`);
    return `${path}/deliveries/${body.data?.deliveryId}`;
  };

  /**
   * Polls a delivery until it has ended.
   * @returns it, and all states that it was read in
   */
  async function followed(path: string): Promise<{ delivery: Delivery; log: Attempt[]; seen: Delivery[] }> {
    const seen: Delivery[] = [];
    const delivery = await eventually(`the end of ${path}`, async () => {
      const { status, body } = await api.get(path);
      if (status !== 200) return false;
      const found = body.data as unknown as Delivery;
      seen.push(found);
      return found.terminalAt !== null && found;
    });
    return { delivery, log: Object(delivery).attemptLog, seen };
  }

  const secondsFrom = (first: string, time: string | null): number | undefined =>
    time === null ? undefined : (Date.parse(time) - Date.parse(first)) / 1000;

  describe.concurrent('with a simulated speed', () => {
    it.each([
      ['at once', 'simulate=500&simulate-speed=1000', SCHEDULE, 0],
      ['never', 'simulate=timeout&simulate-speed=3600', SCHEDULE_OF_TIMEOUTS, 10_000],
    ])(
      'exhausts a delivery to a receiver that answers %s on the real schedule',
      async (_, query, schedule, durationMs) => {
        const { delivery, log, seen } = await followed(await test(await subscribe(query)));

        expect(delivery).toMatchObject({ status: 'exhausted', attempts: 8, terminalReason: 'max_attempts' });
        expect(log.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
        const first = log[0]?.atRealSpeed.startedAt ?? '';
        expect(first).toBe(log[0]?.startedAt);
        expect(log.map(({ atRealSpeed }) => secondsFrom(first, atRealSpeed.startedAt))).toEqual(schedule);
        expect(log.map(({ atRealSpeed }) => atRealSpeed.durationMs)).toEqual(schedule.map(() => durationMs));
        const end = (schedule.at(-1) ?? 0) + durationMs / 1000;
        expect(delivery.atRealSpeed?.nextRetryAt).toBeNull();
        expect(secondsFrom(first, delivery.atRealSpeed?.terminalAt ?? null)).toBe(end);
        // Null while an attempt is in progress; an attempt counts when it starts.
        for (const { attempts, atRealSpeed } of seen.filter((it) => it.status === 'retrying'))
          expect([undefined, schedule[attempts], schedule[attempts - 1]]).toContain(
            secondsFrom(first, atRealSpeed?.nextRetryAt ?? null),
          );
      },
    );

    it('disables the endpoint at the tenth exhausted delivery in a row, and refuses later tests', async () => {
      const path = await subscribe('simulate=500&simulate-speed=1000');
      await storeFailures(place.service(), idIn(path), FAILURES_TO_DISABLE - 2);
      const deliveries = await Promise.all([test(path), test(path)]);
      for (const delivery of deliveries)
        expect((await followed(delivery)).delivery).toMatchObject({
          status: 'exhausted',
          attempts: MAX_ATTEMPTS,
        });
      expect((await api.get(path)).body.data).toMatchObject({
        status: 'auto_disabled',
        disabledReason: 'consecutive_failures',
      });
      expect((await api.post(`${path}/test`)).status).toBe(409);
    });

    it('shows no times at real speed for a speed of 1', async () => {
      const { delivery, log } = await followed(await test(await subscribe('simulate=200')));
      expect(delivery).toMatchObject({ status: 'succeeded', atRealSpeed: null });
      expect(log).toMatchObject([{ atRealSpeed: null }]);
    });
  });
}
