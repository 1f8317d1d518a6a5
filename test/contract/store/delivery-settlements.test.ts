import { describe, expect, it } from 'vitest';
import type {
  AttemptRecord,
  Claimed,
  Delivery,
  EndpointOutcome,
  Settlement,
} from '../../../functions/domain/delivery.ts';
import { aDelivery, anEndpoint, later, NOW, seconds } from '../../builders.ts';
import { type Stores, storeKinds } from './stores.ts';

const terms = { now: NOW, leaseSeconds: 25, maxAttempts: 8 };
const ENDED = later(NOW, seconds(1));
const RETRY = later(NOW, seconds(31));

const anAttempt = (changes: Partial<AttemptRecord> = {}): AttemptRecord => ({
  number: 1,
  startedAt: NOW.toISOString(),
  durationMs: 1000,
  status: 204,
  ...changes,
});
const refusal = anAttempt({ status: 500, error: 'the receiver answered 500', response: 'Oops' });

const succeeded: Settlement = { kind: 'succeeded', attempt: anAttempt(), at: ENDED };
const retrying: Settlement = { kind: 'retrying', attempt: refusal, at: ENDED, nextRetryAt: RETRY };
const exhausted: Settlement = { kind: 'exhausted', attempt: refusal, at: ENDED };
const settlements = [succeeded, retrying, exhausted].map(
  (settlement) => [settlement.kind, settlement] as const,
);

const unaffected = ({ orgId, webhookId }: Delivery): EndpointOutcome => ({
  endpoint: { orgId, id: webhookId },
  effect: 'none',
  at: ENDED,
});

async function claimed({ deliveries }: Stores, changes: Partial<Delivery> = {}): Promise<Claimed> {
  const delivery = aDelivery(changes);
  await deliveries.add(delivery);
  return claimAgain({ deliveries }, delivery, NOW);
}

async function claimAgain(
  { deliveries }: Pick<Stores, 'deliveries'>,
  ref: Delivery,
  now: Date,
): Promise<Claimed> {
  const claim = await deliveries.claim(ref, { ...terms, now });
  if (claim.kind !== 'claimed') throw new Error(`the claim found the delivery ${claim.kind}`);
  return claim.delivery;
}

describe.each(storeKinds())('settling an attempt (%s)', (_, make) => {
  it('makes a success terminal without a reason', async () => {
    const stores = await make();
    const claim = await claimed(stores);

    expect(await stores.deliveries.settle(claim, succeeded, unaffected(claim))).toBe('done');

    const { lease: _lease, ...kept } = claim;
    expect(await stores.deliveries.find(claim)).toEqual({
      ...kept,
      status: 'succeeded',
      terminalAt: ENDED.toISOString(),
      lastResponseStatus: 204,
      attemptLog: [anAttempt()],
    });
  });

  it('keeps a failure with the time of its next attempt', async () => {
    const stores = await make();
    const claim = await claimed(stores);

    expect(await stores.deliveries.settle(claim, retrying, unaffected(claim))).toBe('done');

    const { lease: _lease, ...kept } = claim;
    expect(await stores.deliveries.find(claim)).toEqual({
      ...kept,
      status: 'retrying',
      nextRetryAt: RETRY.toISOString(),
      lastError: refusal.error,
      lastResponseStatus: 500,
      attemptLog: [refusal],
    });
  });

  it('ends the last failure as exhausted', async () => {
    const stores = await make();
    const claim = await claimed(stores, { status: 'retrying', attempts: 7, nextRetryAt: NOW.toISOString() });

    expect(await stores.deliveries.settle(claim, exhausted, unaffected(claim))).toBe('done');

    const { lease: _lease, nextRetryAt: _due, ...kept } = claim;
    expect(await stores.deliveries.find(claim)).toEqual({
      ...kept,
      status: 'exhausted',
      attempts: 8,
      terminalAt: ENDED.toISOString(),
      terminalReason: 'max_attempts',
      lastError: refusal.error,
      lastResponseStatus: 500,
      attemptLog: [refusal],
    });
  });

  it('keeps the last error after a success, and clears the status of an answer when the last attempt had none', async () => {
    const stores = await make();
    const first = await claimed(stores);
    await stores.deliveries.settle(first, retrying, unaffected(first));

    const second = await claimAgain(stores, first, RETRY);
    const timeout = anAttempt({ number: 2, status: undefined, error: 'no answer within 10 s' });
    const again = { ...retrying, attempt: timeout, nextRetryAt: later(RETRY, seconds(60)) };
    await stores.deliveries.settle(second, again, unaffected(first));
    const waiting = await stores.deliveries.find(first);
    expect(waiting).toMatchObject({ lastError: 'no answer within 10 s' });
    expect(waiting).not.toHaveProperty('lastResponseStatus');

    const third = await claimAgain(stores, first, later(RETRY, seconds(60)));
    await stores.deliveries.settle(third, succeeded, unaffected(first));
    const ended = await stores.deliveries.find(first);
    expect(ended).toMatchObject({
      status: 'succeeded',
      lastError: 'no answer within 10 s',
      lastResponseStatus: 204,
    });
    expect(ended?.attemptLog.map((attempt) => attempt.error)).toEqual([
      'the receiver answered 500',
      'no answer within 10 s',
      undefined,
    ]);
    expect(ended).not.toHaveProperty('nextRetryAt');
  });

  it.each(settlements)(
    "refuses to make it %s under another token than the claim's",
    async (_kind, settlement) => {
      const stores = await make();
      const claim = await claimed(stores);
      const forged = { ...claim, lease: { ...claim.lease, token: 'another' } };

      expect(await stores.deliveries.settle(forged, settlement, unaffected(claim))).toBe('refused');
      expect(await stores.deliveries.find(claim)).toEqual(claim);
    },
  );

  it.each(settlements)('refuses to make it %s after another worker claimed it', async (_kind, settlement) => {
    const stores = await make();
    const late = await claimed(stores);
    const current = await claimAgain(stores, late, later(NOW, seconds(25)));

    expect(await stores.deliveries.settle(late, settlement, unaffected(late))).toBe('refused');
    expect(await stores.deliveries.find(late)).toEqual(current);
  });

  it.each(settlements)('refuses to make it %s a second time', async (_kind, settlement) => {
    const stores = await make();
    const claim = await claimed(stores);
    await stores.deliveries.settle(claim, succeeded, unaffected(claim));
    const ended = await stores.deliveries.find(claim);

    expect(await stores.deliveries.settle(claim, settlement, unaffected(claim))).toBe('refused');
    expect(await stores.deliveries.find(claim)).toEqual(ended);
  });

  it('refuses a late attempt whose delivery was skipped meanwhile', async () => {
    const stores = await make();
    const late = await claimed(stores);
    await stores.deliveries.skip(late, 'endpoint_deleted', later(NOW, seconds(25)));
    const skipped = await stores.deliveries.find(late);

    expect(await stores.deliveries.settle(late, succeeded, unaffected(late))).toBe('refused');
    expect(await stores.deliveries.find(late)).toEqual(skipped);
  });

  it('refuses a late attempt although nobody else has taken the delivery yet', async () => {
    const stores = await make();
    const late = await claimed(stores);
    const longAfter = { ...succeeded, at: later(NOW, seconds(3600)) };

    expect(await stores.deliveries.settle(late, longAfter, unaffected(late))).toBe('refused');
    expect(await stores.deliveries.find(late)).toMatchObject({ status: 'pending', attempts: late.attempts });
  });

  it('counts an exhausted delivery at its endpoint in the same step', async () => {
    const stores = await make();
    const endpoint = anEndpoint({ consecutiveFailures: 3 });
    await stores.endpoints.put(endpoint);
    const claim = await claimed(stores, { orgId: endpoint.orgId, webhookId: endpoint.id, attempts: 7 });

    expect(await stores.deliveries.settle(claim, exhausted, { endpoint, effect: 'count', at: ENDED })).toBe(
      'done',
    );

    expect(await stores.deliveries.find(claim)).toMatchObject({ status: 'exhausted' });
    expect(await stores.endpoints.find(endpoint.orgId, endpoint.id)).toEqual({
      ...endpoint,
      consecutiveFailures: 4,
    });
  });

  it('changes neither the delivery nor the endpoint when the endpoint is not as the effect expects', async () => {
    const stores = await make();
    const endpoint = anEndpoint({ consecutiveFailures: 9 });
    await stores.endpoints.put(endpoint);
    const claim = await claimed(stores, { orgId: endpoint.orgId, webhookId: endpoint.id, attempts: 7 });

    const counted = await stores.deliveries.settle(claim, exhausted, {
      endpoint,
      effect: 'count',
      at: ENDED,
    });

    expect(counted).toBe('endpoint-changed');
    expect(await stores.deliveries.find(claim)).toEqual(claim);
    expect(await stores.endpoints.find(endpoint.orgId, endpoint.id)).toEqual(endpoint);
  });

  it('changes neither the delivery nor the endpoint when the lease is lost', async () => {
    const stores = await make();
    const endpoint = anEndpoint();
    await stores.endpoints.put(endpoint);
    const late = await claimed(stores, { orgId: endpoint.orgId, webhookId: endpoint.id, attempts: 6 });
    const current = await claimAgain(stores, late, later(NOW, seconds(25)));

    const counted = await stores.deliveries.settle(late, exhausted, { endpoint, effect: 'count', at: ENDED });

    expect(counted).toBe('refused');
    expect(await stores.deliveries.find(late)).toEqual(current);
    expect(await stores.endpoints.find(endpoint.orgId, endpoint.id)).toEqual(endpoint);
  });
});
