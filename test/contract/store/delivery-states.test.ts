import { describe, expect, it } from 'vitest';
import {
  type Delivery,
  LOST_OUTCOME,
  SkipReason,
  timedOutAfter,
} from '../../../functions/delivery/delivery.ts';
import { RECONCILE_LOOKAHEAD_SECONDS } from '../../../functions/delivery/timing.ts';
import { aDelivery, anEndpoint, later, NOW, seconds } from '../../builders.ts';
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

/*
 * What a delivery becomes by one change. Who may change it, and what is repeated or has ended, is in
 * `delivery-changes.test.ts`.
 */
const make = newStores();
const terms = { now: NOW, leaseSeconds: 25, maxAttempts: 8 };
const at = (now: Date) => ({ ...terms, now });

/** Stores with only this delivery. */
async function setUp(changes: Partial<Delivery> = {}) {
  const stores = await make();
  const delivery = aDelivery(changes);
  await stores.deliveries.add(delivery);
  return { ...stores, delivery };
}

describe('a claim of a delivery', () => {
  it('counts the attempt and holds a lease for its term', async () => {
    const { deliveries, delivery } = await setUp({});

    const claim = await deliveries.claim(delivery, terms);

    const lease = { token: expect.stringMatching(/.+/), until: NOW.getTime() + seconds(25) };
    expect(claim).toEqual({ kind: 'claimed', delivery: { ...delivery, attempts: 1, lease } });
    expect(await deliveries.find(delivery)).toEqual({ ...delivery, attempts: 1, lease });
  });

  it('takes a retrying delivery once it is due', async () => {
    const due = later(NOW, seconds(30));
    const retrying = { status: 'retrying', attempts: 1, nextRetryAt: due.toISOString() } as const;
    const { deliveries, delivery } = await setUp(retrying);

    expect(await deliveries.claim(delivery, at(later(due, -1)))).toEqual({
      kind: 'not-due',
      at: due,
      parked: false,
    });
    expect(await deliveries.claim(delivery, at(due))).toMatchObject({
      kind: 'claimed',
      delivery: { attempts: 2 },
    });
  });

  it('is refused for an unknown delivery, and creates none', async () => {
    const { deliveries } = await make();
    const delivery = aDelivery();

    expect(await deliveries.claim(delivery, terms)).toEqual({ kind: 'absent' });
    expect(await deliveries.find(delivery)).toBeUndefined();
  });

  it.each(['pending', 'retrying'] as const)(
    'is refused for a ninth attempt of a %s delivery',
    async (status) => {
      const { deliveries, delivery } = await setUp({ status, attempts: 8 });

      expect(await deliveries.claim(delivery, terms)).toEqual({ kind: 'spent' });
      expect(await deliveries.find(delivery)).toEqual(delivery);
    },
  );

  it('succeeds for exactly one of fifty at once', async () => {
    const { deliveries, delivery } = await setUp({});

    const claims = await Promise.all(Array.from({ length: 50 }, () => deliveries.claim(delivery, terms)));

    expect(claims.filter((claim) => claim.kind === 'claimed')).toHaveLength(1);
    expect(claims.filter((claim) => claim.kind === 'leased')).toHaveLength(49);
    expect(await deliveries.find(delivery)).toMatchObject({ attempts: 1 });
  });
});

describe('a delivery', () => {
  it('is added once, and keeps its state when it is added again', async () => {
    const { deliveries } = await make();
    const delivery = aDelivery();
    expect(await deliveries.add(delivery)).toBe('added');
    await deliveries.claim(delivery, terms);
    const claimed = await deliveries.find(delivery);

    expect(await deliveries.add(delivery)).toBe('exists');
    expect(await deliveries.add({ ...delivery, status: 'skipped' })).toBe('exists');

    expect(await deliveries.find(delivery)).toEqual(claimed);
  });
});

describe('the end of a delivery without an attempt', () => {
  describe('as skipped', () => {
    it.each(SkipReason.options)('has the reason %s', async (reason) => {
      const { deliveries, delivery } = await setUp({});

      expect(await deliveries.skip(delivery, reason, NOW)).toBe('done');

      expect(await deliveries.find(delivery)).toEqual({
        ...delivery,
        status: 'skipped',
        terminalAt: NOW.toISOString(),
        terminalReason: reason,
      });
    });

    it('does not wait until a retry is due', async () => {
      const nextRetryAt = later(NOW, seconds(60)).toISOString();
      const { deliveries, delivery } = await setUp({ status: 'retrying', attempts: 2, nextRetryAt });

      expect(await deliveries.skip(delivery, 'endpoint_disabled', NOW)).toBe('done');

      const skipped = await deliveries.find(delivery);
      expect(skipped).toMatchObject({ status: 'skipped', attempts: 2 });
      expect(skipped).not.toHaveProperty('nextRetryAt');
    });

    it("waits until a worker's lease has expired", async () => {
      const { deliveries, delivery } = await setUp({});
      await deliveries.claim(delivery, terms);
      const claimed = await deliveries.find(delivery);

      expect(await deliveries.skip(delivery, 'endpoint_deleted', later(LEASE_END, -1))).toBe('refused');
      expect(await deliveries.find(delivery)).toEqual(claimed);
      expect(await deliveries.skip(delivery, 'endpoint_deleted', LEASE_END)).toBe('done');
      expect(await deliveries.find(delivery)).not.toHaveProperty('lease');
    });

    it('creates no delivery', async () => {
      const { deliveries } = await make();
      const delivery = aDelivery();

      expect(await deliveries.skip(delivery, 'endpoint_deleted', NOW)).toBe('refused');
      expect(await deliveries.find(delivery)).toBeUndefined();
    });
  });

  describe('as exhausted', () => {
    it('has the given error and no lease', async () => {
      const { deliveries, delivery } = await setUp({ attempts: 7 });
      await deliveries.claim(delivery, terms);

      expect(await deliveries.exhaust(delivery, LEASE_END, TRACE)).toBe('done');

      expect(await deliveries.find(delivery)).toEqual({
        ...delivery,
        attempts: 8,
        status: 'exhausted',
        terminalAt: LEASE_END.toISOString(),
        terminalReason: 'max_attempts',
        lastError: LOST_OUTCOME.error,
        lastErrorCode: 'lost',
      });
    });

    it("waits until the last worker's lease has expired", async () => {
      const { deliveries, delivery } = await setUp({ attempts: 7 });
      await deliveries.claim(delivery, terms);
      const claimed = await deliveries.find(delivery);

      expect(await deliveries.exhaust(delivery, later(LEASE_END, -1), TRACE)).toBe('refused');
      expect(await deliveries.find(delivery)).toEqual(claimed);
    });

    it.each(['pending', 'retrying'] as const)(
      'is refused for a %s delivery with an attempt left',
      async (status) => {
        const { deliveries, delivery } = await setUp({ status, attempts: 7 });

        expect(await deliveries.exhaust(delivery, NOW, TRACE)).toBe('refused');
        expect(await deliveries.find(delivery)).toEqual(delivery);
      },
    );

    it('counts at the endpoint once when several workers end it', async () => {
      const endpoint = anEndpoint({ consecutiveFailures: 2 });
      const { deliveries, endpoints, delivery } = await setUp({
        orgId: endpoint.orgId,
        webhookId: endpoint.id,
        attempts: 8,
      });
      await endpoints.put(endpoint);

      const results = await Promise.all(
        Array.from({ length: 10 }, () => deliveries.exhaust(delivery, NOW, TRACE)),
      );

      expect(results.filter((result) => result === 'done')).toHaveLength(1);
      expect(results.filter((result) => result === 'refused')).toHaveLength(9);
      expect(await endpoints.find(endpoint.orgId, endpoint.id)).toMatchObject({ consecutiveFailures: 3 });
    });
  });
});

const retrying = retryingIn('hidden');
const settlements = [succeeded, retrying, exhausted].map((one) => [one.kind, one] as const);

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
      await stores.deliveries.claim(claim, at(later(RETRY, -seconds(RECONCILE_LOOKAHEAD_SECONDS + 1)))),
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

  it('keeps the last error after a success, and clears what the last attempt alone had: a response status, and the wait that it asked for', async () => {
    const stores = await make();
    const first = await claimed(stores);
    await stores.deliveries.settle(first, { ...retrying, nextRetryReason: 'retry_after' }, TRACE);
    expect(await stores.deliveries.find(first)).toHaveProperty('nextRetryReason', 'retry_after');

    const second = await claimAgain(stores, first, RETRY);
    const timeout = { ...anAttempt({ number: 2, status: undefined }), ...timedOutAfter(10_000) };
    const again = { ...retrying, attempt: timeout, nextRetryAt: later(RETRY, seconds(60)) };
    await stores.deliveries.settle(second, again, TRACE);
    const waiting = await stores.deliveries.find(first);
    expect(waiting).toMatchObject({ lastError: timeout.error, lastErrorCode: 'timeout' });
    expect(waiting).not.toHaveProperty('lastResponseStatus');
    expect(waiting).not.toHaveProperty('nextRetryReason');

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
});
