import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  ApiFailure,
  failureOf,
  mayHaveHappened,
  mayPass,
  pauseAfter,
  unreachable,
} from '../../../dashboard/src/api/failures.ts';
import { idempotencyKeys } from '../../../dashboard/src/api/idempotency.ts';
import { followIn, LIVE_MS, lookAgainIn, nextLookIn, testLookIn } from '../../../dashboard/src/api/pace.ts';
import type { DeliveryStatus } from '../../../dashboard/src/api/webhooks.ts';

const answer = (status: number, headers: Record<string, string> = {}) =>
  new Response(null, { status, headers });

describe('an API error', () => {
  it('is read from its envelope', () => {
    const body = { error: { type: 'CONFLICT', message: 'It is disabled.', requestId: 'r-1' } };
    expect(failureOf(answer(409), body)).toMatchObject({
      status: 409,
      type: 'CONFLICT',
      message: 'It is disabled.',
      requestId: 'r-1',
    });
  });

  it('has a request id even when the gateway answered', () => {
    expect(failureOf(answer(502, { 'request-id': 'r-2' }), '<html>')).toMatchObject({
      type: 'UNKNOWN',
      requestId: 'r-2',
    });
  });

  it.each([
    undefined,
    null,
    'text',
    7,
    [],
    { error: null },
    { error: 'x' },
    { error: { type: 1, message: {} } },
  ])('is readable from any body: %j', (body) => {
    expect(failureOf(answer(500), body)).toMatchObject({ status: 500, type: 'UNKNOWN' });
  });

  it('has the faults of each field', () => {
    const fault = { field: 'url', code: 'too_long', message: 'must be at most 2048 characters', limit: 2048 };
    const of = (details: unknown) => failureOf(answer(400), { error: { details } }).details;
    expect(of([fault])).toEqual([fault]);
    expect(of([fault, null, 'x', { ...fault, field: 1 }, { ...fault, code: undefined }])).toEqual([fault]);
    for (const given of [undefined, null, {}, 'text', [[]]]) expect(of(given)).toEqual([]);
  });

  it('says when the user may retry', () => {
    expect(failureOf(answer(429, { 'retry-after': '7' }), {}).retryAfter).toBe(7);
    expect(failureOf(answer(429, { 'retry-after': 'soon' }), {}).retryAfter).toBeUndefined();
  });

  it.each([
    [0, true],
    [400, false],
    [403, false],
    [404, false],
    [409, false],
    [429, true],
    [500, true],
    [503, true],
  ])('is, with status %i, retryable: %s', (status, isWorth) => {
    const failure = status === 0 ? unreachable(new TypeError('offline')) : failureOf(answer(status), {});
    expect(mayPass(failure)).toBe(isWorth);
  });

  it('is retried after the time in the answer, else with growing delays', () => {
    const busy = failureOf(answer(429, { 'retry-after': '42' }), undefined);
    expect([0, 1].map((failures) => pauseAfter(failures, busy))).toEqual([42_000, 42_000]);
    const down = failureOf(answer(503), undefined);
    expect([0, 1, 2, 20].map((failures) => pauseAfter(failures, down))).toEqual([1000, 2000, 4000, 30_000]);
  });

  it.each([
    ['nothing answered', unreachable(new TypeError()), true],
    ['the service failed', failureOf(answer(502), undefined), true],
    ['too much was asked', failureOf(answer(429), undefined), false],
    ['it was refused', failureOf(answer(400), undefined), false],
  ])('says whether the change took effect: %s', (_, failure, expected) => {
    expect(mayHaveHappened(failure)).toBe(expected);
  });
});

describe('idempotency keys', () => {
  const NOTHING_ANSWERED = new Error('nothing answered');

  it('are the same for the same content until it succeeded, and differ for other content', async () => {
    const keys = idempotencyKeys();
    const sent: string[] = [];
    const send = (isAnswered: boolean) => async (key: { 'Idempotency-Key': string }) => {
      sent.push(key['Idempotency-Key']);
      if (!isAnswered) throw NOTHING_ANSWERED;
      return 'made';
    };
    await expect(keys.once({ since: 1 }, send(false))).rejects.toBe(NOTHING_ANSWERED);
    expect(await keys.once({ since: 1 }, send(true))).toBe('made');
    await keys.once({ since: 1 }, send(true));
    await keys.once({ since: 2 }, send(true));
    expect(sent[1]).toBe(sent[0]);
    expect(new Set(sent).size).toBe(3);
  });

  it('are dropped one by one', () => {
    const keys = idempotencyKeys();
    const [first, second] = [keys({ url: 'a' }), keys({ url: 'b' })];
    keys.forget({ url: 'a' });
    expect(keys({ url: 'a' })).not.toEqual(first);
    expect(keys({ url: 'b' })).toEqual(second);
  });
});

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
