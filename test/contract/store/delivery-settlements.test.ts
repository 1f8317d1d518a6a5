import { describe, expect, it } from 'vitest';
import { timedOutAfter } from '../../../functions/delivery/delivery.ts';
import { RECONCILE_LOOKAHEAD_SECONDS } from '../../../functions/delivery/timing.ts';
import { later, NOW, seconds } from '../../builders.ts';
import {
  anAttempt,
  claimAgain,
  claimed,
  ENDED,
  exhausted,
  LEASE_END,
  RETRY,
  refusal,
  retryingIn,
  succeeded,
  TRACE,
} from './attempts.ts';
import { newStores } from './stores.ts';

const make = newStores();

const retrying = retryingIn('hidden');
const settlements = [succeeded, retrying, exhausted].map(
  (settlement) => [settlement.kind, settlement] as const,
);

describe('the settlement of an attempt', () => {
  it('makes a success terminal without a reason', async () => {
    const stores = await make();
    const claim = await claimed(stores);

    expect(await stores.deliveries.settle(claim, succeeded, TRACE)).toBe('done');

    const { lease: _lease, ...kept } = claim;
    expect(await stores.deliveries.find(claim)).toEqual({
      ...kept,
      status: 'succeeded',
      terminalAt: ENDED.toISOString(),
      lastResponseStatus: 204,
      attemptLog: [anAttempt()],
    });
  });

  it.each(['hidden', 'delayed'] as const)(
    'stores a failure with the time of its next attempt, which has a %s message',
    async (hold) => {
      const stores = await make();
      const claim = await claimed(stores);

      expect(await stores.deliveries.settle(claim, retryingIn(hold), TRACE)).toBe('done');

      const { lease: _lease, ...kept } = claim;
      expect(await stores.deliveries.find(claim)).toEqual({
        ...kept,
        status: 'retrying',
        nextRetryAt: RETRY.toISOString(),
        lastError: refusal.error,
        lastErrorCode: 'http_status',
        lastResponseStatus: 500,
        attemptLog: [refusal],
      });
    },
  );

  it('marks a failure without a message for its retry as parked', async () => {
    const stores = await make();
    const claim = await claimed(stores);

    await stores.deliveries.settle(claim, retryingIn('parked'), TRACE);

    expect(await stores.deliveries.find(claim)).toMatchObject({
      status: 'retrying',
      nextRetryAt: RETRY.toISOString(),
      parked: true,
    });
    expect(
      await stores.deliveries.claim(claim, {
        now: later(RETRY, -seconds(RECONCILE_LOOKAHEAD_SECONDS + 1)),
        leaseSeconds: 25,
        maxAttempts: 8,
      }),
    ).toEqual({ kind: 'not-due', at: RETRY, parked: true });
  });

  it.each([
    ['hidden', retryingIn('hidden')],
    ['delayed', retryingIn('delayed')],
    ['succeeded', succeeded],
    ['exhausted', exhausted],
  ] as const)('unparks a delivery when its next attempt is settled as %s', async (_name, settlement) => {
    const stores = await make();
    const first = await claimed(stores);
    await stores.deliveries.settle(first, retryingIn('parked'), TRACE);
    const second = await claimAgain(stores, first, RETRY);
    expect(second).toMatchObject({ parked: true });

    const next = { ...settlement, at: later(RETRY, seconds(1)) };
    expect(await stores.deliveries.settle(second, next, TRACE)).toBe('done');

    expect(await stores.deliveries.find(first)).not.toHaveProperty('parked');
  });

  it('makes the last failure exhausted', async () => {
    const stores = await make();
    const claim = await claimed(stores, { status: 'retrying', attempts: 7, nextRetryAt: NOW.toISOString() });

    expect(await stores.deliveries.settle(claim, exhausted, TRACE)).toBe('done');

    const { lease: _lease, nextRetryAt: _due, ...kept } = claim;
    expect(await stores.deliveries.find(claim)).toEqual({
      ...kept,
      status: 'exhausted',
      attempts: 8,
      terminalAt: ENDED.toISOString(),
      terminalReason: 'max_attempts',
      lastError: refusal.error,
      lastErrorCode: 'http_status',
      lastResponseStatus: 500,
      attemptLog: [refusal],
    });
  });

  it('keeps the last error after a success, and clears the response status after an attempt without a response', async () => {
    const stores = await make();
    const first = await claimed(stores);
    await stores.deliveries.settle(first, retrying, TRACE);

    const second = await claimAgain(stores, first, RETRY);
    const timeout = { ...anAttempt({ number: 2, status: undefined }), ...timedOutAfter(10_000) };
    const again = { ...retrying, attempt: timeout, nextRetryAt: later(RETRY, seconds(60)) };
    await stores.deliveries.settle(second, again, TRACE);
    const waiting = await stores.deliveries.find(first);
    expect(waiting).toMatchObject({ lastError: timeout.error, lastErrorCode: 'timeout' });
    expect(waiting).not.toHaveProperty('lastResponseStatus');

    const third = await claimAgain(stores, first, later(RETRY, seconds(60)));
    await stores.deliveries.settle(third, succeeded, TRACE);
    const ended = await stores.deliveries.find(first);
    expect(ended).toMatchObject({
      status: 'succeeded',
      lastError: timeout.error,
      lastErrorCode: 'timeout',
      lastResponseStatus: 204,
    });
    expect(ended?.attemptLog.map((attempt) => attempt.error)).toEqual([
      'the receiver answered 500',
      timeout.error,
      undefined,
    ]);
    expect(ended).not.toHaveProperty('nextRetryAt');
  });

  it.each(settlements)("is refused as %s with a token other than the claim's", async (_kind, settlement) => {
    const stores = await make();
    const claim = await claimed(stores);
    const forged = { ...claim, lease: { ...claim.lease, token: 'another' } };

    expect(await stores.deliveries.settle(forged, settlement, TRACE)).toBe('refused');
    expect(await stores.deliveries.find(claim)).toEqual(claim);
  });

  it.each(settlements)(
    'is refused as %s after another worker has claimed the delivery',
    async (_kind, settlement) => {
      const stores = await make();
      const late = await claimed(stores);
      const current = await claimAgain(stores, late, LEASE_END);

      expect(await stores.deliveries.settle(late, settlement, TRACE)).toBe('refused');
      expect(await stores.deliveries.find(late)).toEqual(current);
    },
  );

  it.each(settlements)(
    'takes effect once, and has its first result where it is repeated as %s',
    async (_kind, settlement) => {
      const stores = await make();
      const claim = await claimed(stores);
      await stores.deliveries.settle(claim, succeeded, TRACE);
      const ended = await stores.deliveries.find(claim);

      expect(await stores.deliveries.settle(claim, settlement, TRACE)).toBe('done');
      expect(await stores.deliveries.find(claim)).toEqual(ended);
    },
  );

  it('is refused for a late attempt although no other worker has claimed the delivery', async () => {
    const stores = await make();
    const late = await claimed(stores);
    const longAfter = { ...succeeded, at: later(NOW, seconds(3600)) };

    expect(await stores.deliveries.settle(late, longAfter, TRACE)).toBe('refused');
    expect(await stores.deliveries.find(late)).toMatchObject({ status: 'pending', attempts: late.attempts });
  });
});
