import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ApiFailure } from '../../../dashboard/src/api/failures.ts';
import { followIn, LIVE_MS, lookAgainIn, nextLookIn, testLookIn } from '../../../dashboard/src/api/pace.ts';
import type { DeliveryStatus } from '../../../dashboard/src/api/webhooks.ts';

const NOW = Date.parse('2026-11-20T09:30:00.000Z');
const MINUTE = 60_000;
const at = (ms: number) => new Date(ms).toISOString();
const aDelivery = (status: DeliveryStatus, nextRetryAt: number | null = null, createdAt = NOW) => ({
  status,
  nextRetryAt: nextRetryAt === null ? null : at(nextRetryAt),
  createdAt: at(createdAt),
});
const failed = (status: number, retryAfter?: number) =>
  new ApiFailure('', { status, type: 'X', ...(retryAfter === undefined ? {} : { retryAfter }) });

/** How often a delivery is polled in a time without changes. */
function looksAt(delivery: Parameters<typeof lookAgainIn>[0], ms: number): number {
  let looks = 0;
  for (let time = NOW; time < NOW + ms; time += lookAgainIn(delivery, time)) looks += 1;
  return looks;
}

describe('polls of an open delivery', () => {
  it('come when its next attempt may have ended', () => {
    expect(lookAgainIn(aDelivery('retrying', NOW + 30_000), NOW)).toBe(30_500);
  });
  it('come within a second for a new one', () => {
    expect(lookAgainIn(aDelivery('pending'), NOW)).toBe(1000);
  });
  it('become rare while nothing changes', () => {
    expect(looksAt(aDelivery('pending'), MINUTE)).toBeLessThanOrEqual(20);
    expect(looksAt(aDelivery('pending', null, NOW - 10 * MINUTE), 10 * MINUTE)).toBe(40);
    expect(looksAt(aDelivery('retrying', NOW + 60 * MINUTE), 60 * MINUTE)).toBeLessThanOrEqual(60);
  });
  it('are never further apart than a minute, nor closer than a second', () => {
    fc.assert(
      fc.property(
        fc.constantFrom<DeliveryStatus>('pending', 'retrying'),
        fc.option(fc.integer({ min: -1e8, max: 1e8 })),
        fc.integer({ min: -1e8, max: 1e8 }),
        (status, retry, created) => {
          const delivery = aDelivery(status, retry === null ? null : NOW + retry, NOW + created);
          const wait = lookAgainIn(delivery, NOW);
          expect(wait).toBeGreaterThanOrEqual(1000);
          expect(wait).toBeLessThanOrEqual(MINUTE);
        },
      ),
    );
  });
  it('end when it has ended, or is missing', () => {
    expect(followIn(aDelivery('succeeded'), NOW, null)).toBe(false);
    expect(followIn(undefined, NOW, failed(404))).toBe(false);
    expect(followIn(aDelivery('retrying', NOW), NOW, failed(404))).toBe(false);
  });
  it('follow the Retry-After of an answer', () => {
    expect(followIn(aDelivery('pending'), NOW, failed(429, 40))).toBe(40_000);
  });
});

describe('polls of a list', () => {
  it('show new rows within two seconds', () => {
    expect(nextLookIn(0, undefined)).toBe(LIVE_MS);
    expect(LIVE_MS).toBeLessThan(1500);
  });
  it('become rarer while they fail', () => {
    const waits = [1, 2, 3, 4, 10].map((failures) => nextLookIn(failures, failed(503)));
    expect(waits).toEqual(waits.toSorted((a, b) => a - b));
    expect(new Set(waits.slice(0, 4)).size).toBe(4);
    expect(waits.at(-1)).toBeLessThanOrEqual(MINUTE);
  });
  it('follow the Retry-After of an answer', () => {
    expect(nextLookIn(1, failed(429, 17))).toBe(17_000);
    expect(nextLookIn(1, failed(429, 0))).toBeGreaterThanOrEqual(LIVE_MS);
  });
});

describe('polls of a test', () => {
  it('are frequent at first, and a few a minute later', () => {
    const deliveries = [undefined, aDelivery('pending'), aDelivery('retrying', NOW + 60 * MINUTE)];
    for (const delivery of deliveries) {
      const lookIn = (waited: number) => Number(testLookIn(waited, delivery, NOW + waited, null));
      let looks = 0;
      for (let waited = 0; waited < 63 * MINUTE; waited += lookIn(waited)) looks += 1;
      expect(lookIn(0)).toBeLessThanOrEqual(500);
      expect(looks).toBeLessThan(63 * 4 + 50);
    }
  });
  it('end when it has ended, and follow the Retry-After of an answer', () => {
    expect(testLookIn(0, aDelivery('exhausted'), NOW, null)).toBe(false);
    expect(testLookIn(0, undefined, NOW, failed(429, 20))).toBe(20_000);
  });
});
