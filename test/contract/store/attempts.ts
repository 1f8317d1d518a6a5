import type {
  AttemptError,
  AttemptRecord,
  ClaimedDelivery,
  Delivery,
} from '../../../functions/delivery/delivery.ts';
import type { Settlement, Wait } from '../../../functions/delivery/settle.ts';
import { aDelivery, later, NOW, seconds } from '../../builders.ts';
import type { Stores } from './stores.ts';

/*
 * An attempt that starts at `NOW` under a lease of 25 seconds and ends a second later; its retry is due 30
 * seconds after that.
 */

export const LEASE_SECONDS = 25;
export const LEASE_END = later(NOW, seconds(LEASE_SECONDS));
export const ENDED = later(NOW, seconds(1));
export const RETRY = later(ENDED, seconds(30));
export const TRACE = '1-5759e988-bd862e3fe1be46a994272793';

const terms = { leaseSeconds: LEASE_SECONDS, maxAttempts: 8 };

/** A successful attempt. */
export const anAttempt = (changes: Partial<AttemptRecord> = {}): AttemptRecord => ({
  number: 1,
  startedAt: NOW.toISOString(),
  durationMs: 1000,
  status: 204,
  ...changes,
});

export const refusal: AttemptRecord & AttemptError = {
  ...anAttempt({ status: 500, response: 'Oops' }),
  error: 'the receiver answered 500',
  errorCode: 'http_status',
};

type Ended<K extends Settlement['kind']> = Extract<Settlement, { kind: K }>;
export const succeeded: Ended<'succeeded'> = { kind: 'succeeded', attempt: anAttempt(), at: ENDED };
export const exhausted: Ended<'exhausted'> = {
  kind: 'exhausted',
  attempt: refusal,
  at: ENDED,
  terminalReason: 'max_attempts',
};
/** A failed attempt, whose retry is due by a message in a queue or by the due index. */
export const retryingIn = (hold: Wait['hold']): Ended<'retrying'> => ({
  kind: 'retrying',
  attempt: refusal,
  at: ENDED,
  nextRetryAt: RETRY,
  wait: { hold, lane: 'retry' },
});

/** Adds a delivery and claims it. */
export async function claimed(
  { deliveries }: Pick<Stores, 'deliveries'>,
  changes: Partial<Delivery> = {},
): Promise<ClaimedDelivery> {
  const delivery = aDelivery(changes);
  await deliveries.add(delivery);
  return claimAgain({ deliveries }, delivery, NOW);
}

/** @throws when the delivery cannot be claimed */
export async function claimAgain(
  { deliveries }: Pick<Stores, 'deliveries'>,
  ref: Delivery,
  now: Date,
): Promise<ClaimedDelivery> {
  const claim = await deliveries.claim(ref, { ...terms, now });
  if (claim.kind !== 'claimed') throw new Error(`the claim found the delivery ${claim.kind}`);
  return claim.delivery;
}
