import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ClaimedDelivery } from '../../../functions/delivery/delivery.ts';
import type { Settlement } from '../../../functions/delivery/settle.ts';
import { aDelivery, later, NOW, seconds } from '../../builders.ts';
import { casesOf } from '../../support/cases.ts';
import { anAttempt, LEASE_SECONDS, refusal, TRACE } from './attempts.ts';
import { newStores } from './stores.ts';

const make = newStores();

const MAX_ATTEMPTS = 8;
const LEASE_MS = seconds(LEASE_SECONDS);
const RETRY_MS = seconds(30);

/** A sequence of steps: time passes, one worker claims, or one of the earlier workers settles. */
const step = fc.oneof(
  fc.record({
    kind: fc.constant('elapse' as const),
    ms: fc.constantFrom(1, 1000, RETRY_MS, LEASE_MS - 1, LEASE_MS),
  }),
  fc.record({ kind: fc.constant('claim' as const) }),
  fc.record({
    kind: fc.constant('settle' as const),
    worker: fc.nat(),
    as: fc.constantFrom('retrying' as const, 'retrying' as const, 'succeeded' as const, 'exhausted' as const),
    hold: fc.constantFrom('hidden' as const, 'delayed' as const, 'parked' as const),
  }),
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

function buildSettlement(
  claim: ClaimedDelivery,
  { as, hold }: Extract<Step, { kind: 'settle' }>,
  at: Date,
): Settlement {
  if (as === 'succeeded') return { kind: as, attempt: anAttempt({ number: claim.attempts }), at };
  const attempt = { ...refusal, number: claim.attempts };
  if (as === 'exhausted') return { kind: as, attempt, at, terminalReason: 'max_attempts' };
  return { kind: as, attempt, at, nextRetryAt: later(at, RETRY_MS), wait: { hold, lane: 'retry' } };
}

describe('the lease of a delivery', () => {
  it('admits one worker at a time and eight at most, and refuses settlements after its end', async () => {
    const { deliveries } = await make();
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60, size: 'max' }), async (steps) => {
        const delivery = aDelivery();
        await deliveries.add(delivery);
        let now = NOW;
        let holder: ClaimedDelivery | undefined;
        let dueAt = NOW;
        let ended = false;
        const claims: ClaimedDelivery[] = [];
        const settledClaims = new Set<ClaimedDelivery>();

        const isHeld = () => holder !== undefined && now.getTime() < holder.lease.until;
        for (const taken of steps) {
          if (taken.kind === 'elapse') {
            now = later(now, taken.ms);
          } else if (taken.kind === 'claim') {
            const free = !ended && !isHeld() && now >= dueAt && claims.length < MAX_ATTEMPTS;
            const claim = await deliveries.claim(delivery, {
              now,
              leaseSeconds: LEASE_SECONDS,
              maxAttempts: MAX_ATTEMPTS,
            });
            expect(claim.kind === 'claimed').toBe(free);
            if (claim.kind !== 'claimed') continue;
            expect(claim.delivery.attempts).toBe(claims.length + 1);
            claims.push(claim.delivery);
            holder = claim.delivery;
          } else if (claims.length > 0) {
            const claim = claims[taken.worker % claims.length];
            if (claim === undefined) continue;
            const settlement = buildSettlement(claim, taken, now);
            const result = await deliveries.settle(claim, settlement, TRACE);
            const may = claim === holder && isHeld();
            // A repeated settlement has its first result: the SDK repeats a request whose response was lost.
            expect(result).toBe(may || settledClaims.has(claim) ? 'done' : 'refused');
            if (!may) continue;
            settledClaims.add(claim);
            holder = undefined;
            ended = settlement.kind !== 'retrying';
            if (settlement.kind === 'retrying') dueAt = settlement.nextRetryAt;
          }
        }

        const stored = await deliveries.find(delivery);
        expect(stored?.attempts).toBe(claims.length);
        expect(stored?.terminalAt !== undefined).toBe(ended);
        const settled = stored?.attemptLog.map(({ number }) => number) ?? [];
        expect(new Set(settled).size).toBe(settled.length);
      }),
      { numRuns: casesOf(12, 40) },
    );
  });
});
