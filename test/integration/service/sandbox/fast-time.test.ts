import { beforeAll, describe, expect, it } from 'vitest';
import { MAX_ATTEMPTS } from '../../../../functions/delivery/timing.ts';
import type { ApiClient } from '../../../support/api.ts';
import { aPlace } from '../place.ts';
import { eventually } from './eventually.ts';

/**
 * Waits between attempts, in seconds: 30 s, then each twice the one before (docs/specification.md, Retries).
 */
const WAITS = [30, 60, 120, 240, 480, 960, 1920];

type Delivery = Record<string, unknown> & {
  status: string;
  attempts: number;
  nextRetryAt: string | null;
  terminalAt: string | null;
};
interface Attempt {
  number: number;
  startedAt: string;
  durationMs: number;
}

/*
 * With a simulated speed, an hour of retries takes seconds. Runs the stack's own schedules.
 */
const place = aPlace('defaults');

describe('a delivery in a sandbox', () => {
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
      const shown = body.data as unknown as Delivery;
      seen.push(shown);
      return shown.terminalAt !== null && shown;
    });
    return { delivery, log: Object(delivery).attemptLog, seen };
  }

  describe.concurrent('with a simulated speed', () => {
    it.each([
      ['at once', 'simulate=500', 1000, 'the receiver answered 500'],
      ['never', 'simulate=timeout', 3600, 'timed out after 10 s'],
    ])(
      'exhausts a delivery to a receiver that answers %s, each wait divided by the speed',
      async (_, query, speed, lastError) => {
        const path = await subscribe(`${query}&simulate-speed=${speed}`);
        const { delivery, log, seen } = await followed(await test(path));

        expect(delivery).toMatchObject({
          status: 'exhausted',
          attempts: MAX_ATTEMPTS,
          terminalReason: 'max_attempts',
          nextRetryAt: null,
          lastError,
        });
        expect(log.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
        const ends = log.map(({ startedAt, durationMs }) => Date.parse(startedAt) + durationMs);
        const dueAt = ends.map((end, index) => end + Math.ceil((Number(WAITS[index]) * 1000) / speed));
        for (const [index, { startedAt }] of log.slice(1).entries())
          expect(Date.parse(startedAt)).toBeGreaterThanOrEqual(Number(dueAt[index]));
        expect(Date.parse(String(delivery.terminalAt))).toBe(ends.at(-1));
        // Null while an attempt is in progress; an attempt counts when it starts.
        for (const { attempts, nextRetryAt } of seen.filter((it) => it.status === 'retrying'))
          expect([null, dueAt[attempts - 1]]).toContain(nextRetryAt && Date.parse(nextRetryAt));
      },
    );
  });
});
