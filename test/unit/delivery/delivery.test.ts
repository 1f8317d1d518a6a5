import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { deriveDeliveryId } from '../../../functions/aws/ids.ts';
import {
  AttemptRecord,
  type AttemptResult,
  createDelivery,
  type Delivery,
  DeliveryStatus,
  type WebhookRequest,
} from '../../../functions/delivery/delivery.ts';
import { LANES, LONGEST_QUEUED_WAIT_SECONDS } from '../../../functions/delivery/lanes.ts';
import { getClaimability } from '../../../functions/delivery/rows.ts';
import { computeSettlement, decideDisposition } from '../../../functions/delivery/settle.ts';
import { DEFAULT_RETRY_POLICY, RECONCILE_LOOKAHEAD_SECONDS } from '../../../functions/delivery/timing.ts';
import { aDelivery, anEndpoint, anEvent, aTenant, later, NOW, seconds } from '../../builders.ts';
import { recentTimes } from '../aws/arbitraries.ts';

const MAX = DEFAULT_RETRY_POLICY.maxAttempts;
const TERMINAL = ['succeeded', 'exhausted', 'skipped'] as const satisfies readonly DeliveryStatus[];
const OPEN = ['pending', 'retrying'] as const satisfies readonly DeliveryStatus[];

const REFUSED = { error: 'connection refused', errorCode: 'connection_refused' } as const;
const NO_ERROR: { error?: undefined } = {};
const attemptNumbers = fc.integer({ min: 1, max: MAX });
const results: fc.Arbitrary<AttemptResult> = fc
  .record({
    startedAt: recentTimes,
    durationMs: fc.integer({ min: 0, max: 10_000 }),
    status: fc.option(fc.integer({ min: 100, max: 599 }), { nil: undefined }),
    error: fc.option(fc.string({ minLength: 1 }), { nil: undefined }),
    response: fc.option(fc.string(), { nil: undefined }),
  })
  .map(({ startedAt, durationMs, status, error, response }) => ({
    startedAt,
    endedAt: later(startedAt, durationMs),
    ...(status === undefined ? {} : { status }),
    ...(error === undefined ? NO_ERROR : { error, errorCode: 'timeout' }),
    ...(response === undefined ? {} : { response }),
  }));

/** From a queue to one for a retry, which may be crowded. */
const routes = fc.record({
  from: fc.constantFrom(...LANES),
  to: fc.constantFrom('retry' as const, 'slow' as const),
  crowded: fc.boolean(),
});
/** For the retry of a first attempt, in a queue with room. */
const route = { from: 'fresh', to: 'retry', crowded: false } as const;

describe('new delivery', () => {
  it('has its event, endpoint and tenant', () => {
    const tenant = aTenant({ generation: 2 });
    const [event, endpoint] = [anEvent({ tenant }), anEndpoint()];
    expect(createDelivery(event, endpoint, NOW)).toEqual({
      ...tenant,
      id: deriveDeliveryId(event.id, endpoint.id),
      webhookId: endpoint.id,
      eventId: event.id,
      eventType: event.type,
      filterValues: { channelId: 'chn_web' },
      conversationId: event.conversationId,
      status: 'pending',
      attempts: 0,
      attemptLog: [],
      createdAt: NOW.toISOString(),
    });
  });
});

describe('settlement of an attempt', () => {
  it('logs the attempt, without missing values', () => {
    fc.assert(
      fc.property(attemptNumbers, results, routes, (number, result, route) => {
        const { attempt } = computeSettlement(number, result, DEFAULT_RETRY_POLICY, route);
        const { startedAt, endedAt, status, error, errorCode, response } = result;
        expect(AttemptRecord.parse(attempt)).toEqual(attempt);
        expect(Object.values(attempt)).not.toContain(undefined);
        expect(attempt).toEqual({
          number,
          startedAt: startedAt.toISOString(),
          durationMs: endedAt.getTime() - startedAt.getTime(),
          ...(status !== undefined && { status }),
          ...(error !== undefined && { error, errorCode }),
          ...(response && { response }),
        });
      }),
    );
  });
});

describe('settlement of a simulated attempt', () => {
  const request: WebhookRequest = { method: 'POST', url: 'https://example.com/', headers: {}, body: '{}' };
  const succeeded = { startedAt: NOW, endedAt: later(NOW, 5), status: 200, simulated: request };

  it('has the request, and marks a success as simulated', () => {
    expect(computeSettlement(1, succeeded, DEFAULT_RETRY_POLICY, route)).toMatchObject({
      kind: 'succeeded',
      terminalReason: 'sandbox_simulated',
      attempt: { request },
    });
  });

  it('omits a request whose body is too large to be stored with each of eight attempts', () => {
    const LARGEST = 32_768;
    const of = (body: string) => {
      const result = { ...succeeded, simulated: { ...request, body } };
      return computeSettlement(1, result, DEFAULT_RETRY_POLICY, route).attempt;
    };
    expect(of('x'.repeat(LARGEST))).toHaveProperty('request');
    expect(of('x'.repeat(LARGEST + 1))).not.toHaveProperty('request');
    // The size is counted in bytes.
    expect(of('é'.repeat(LARGEST / 2 + 1))).not.toHaveProperty('request');
  });
});

describe('claimability of a delivery', () => {
  /** Any stored delivery: terminal or not, leased or not, due or not. */
  const deliveries: fc.Arbitrary<Delivery> = fc
    .record({
      status: fc.constantFrom(...DeliveryStatus.options),
      attempts: fc.integer({ min: 0, max: MAX }),
      leaseEnd: fc.option(fc.integer({ min: -30_000, max: 30_000 }), { nil: undefined }),
      due: fc.option(fc.integer({ min: -30_000, max: 30_000 }), { nil: undefined }),
    })
    .map(({ status, attempts, leaseEnd, due }) =>
      aDelivery({
        status,
        attempts,
        ...(leaseEnd !== undefined && { lease: { token: 't', until: NOW.getTime() + leaseEnd } }),
        ...(due !== undefined && { nextRetryAt: later(NOW, due).toISOString() }),
      }),
    );

  it('is claimable exactly when it is open, unleased, due and has attempts left', () => {
    fc.assert(
      fc.property(deliveries, (delivery) => {
        const { status, lease, nextRetryAt, attempts } = delivery;
        const claimable =
          OPEN.some((open) => open === status) &&
          (lease === undefined || lease.until <= NOW.getTime()) &&
          (nextRetryAt === undefined || new Date(nextRetryAt) <= NOW) &&
          attempts < MAX;
        expect(getClaimability(delivery, NOW, MAX).kind === 'claimable').toBe(claimable);
      }),
      { numRuns: 500 },
    );
  });

  it.each(TERMINAL)('is terminal when it is %s, for any other fields', (status) => {
    const delivery = aDelivery({ status, lease: { token: 't', until: NOW.getTime() + 1 }, attempts: MAX });
    expect(getClaimability(delivery, NOW, MAX)).toEqual({ kind: 'terminal' });
  });

  it.each(OPEN)(
    'of a %s delivery without attempts left is spent, but not before its lease has ended',
    (status) => {
      const until = later(NOW, seconds(10));
      const delivery = aDelivery({ status, attempts: MAX, lease: { token: 't', until: until.getTime() } });
      expect(getClaimability(delivery, NOW, MAX)).toEqual({ kind: 'leased', until });
      expect(getClaimability(delivery, until, MAX)).toEqual({ kind: 'spent' });
    },
  );

  it.each([undefined, true] as const)(
    'of a delivery that is not due includes whether it has no message (parked: %s)',
    (parked) => {
      const at = later(NOW, seconds(1000));
      const delivery = aDelivery({ status: 'retrying', nextRetryAt: at.toISOString(), parked });
      expect(getClaimability(delivery, NOW, MAX)).toEqual({ kind: 'not-due', at, parked: parked === true });
      expect(getClaimability(delivery, at, MAX)).toEqual({ kind: 'claimable' });
    },
  );

  it('of a parked delivery keeps the message that the reconciler has sent ahead of time', () => {
    const at = later(NOW, seconds(RECONCILE_LOOKAHEAD_SECONDS));
    const delivery = aDelivery({ status: 'retrying', nextRetryAt: at.toISOString(), parked: true });
    expect(getClaimability(delivery, NOW, MAX)).toEqual({ kind: 'not-due', at, parked: false });
    expect(getClaimability(delivery, later(NOW, -1), MAX)).toMatchObject({ parked: true });
  });

  it('is absent without a delivery', () => {
    expect(getClaimability(undefined, NOW, MAX)).toEqual({ kind: 'absent' });
  });
});

describe('disposition of a message', () => {
  it('never keeps it longer than a queue can, nor in a crowded queue', () => {
    const policy = fc.record({
      baseSeconds: fc.integer({ min: 1, max: 86_400 }),
      capSeconds: fc.integer({ min: 1, max: 86_400 }),
      maxAttempts: fc.constant(MAX),
    });
    fc.assert(
      fc.property(attemptNumbers, results, routes, policy, (number, result, route, policy) => {
        const settlement = computeSettlement(number, { ...result, ...REFUSED }, policy, route);
        const disposition = decideDisposition(settlement);
        if (settlement.kind !== 'retrying' || disposition.kind === 'delete') return;
        const wait = settlement.nextRetryAt.getTime() - settlement.at.getTime();
        expect(wait).toBeLessThanOrEqual(seconds(LONGEST_QUEUED_WAIT_SECONDS));
        expect(route.crowded).toBe(false);
        expect(disposition).toEqual(
          route.from === route.to
            ? { kind: 'keep', until: settlement.nextRetryAt }
            : { kind: 'move', lane: route.to, until: settlement.nextRetryAt },
        );
      }),
      { numRuns: 500 },
    );
  });
});
