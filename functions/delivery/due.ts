import { parseCreationTime } from '../aws/ids.ts';
import type { DueState } from '../tenancy/keys.ts';
import type { Delivery, DeliveryMessage, DeliveryRef } from './delivery.ts';

export const DUE_INDEX = 'due';

/** A delivery with the organization by which the due index is sorted. */
export type DueRef = DeliveryRef & Pick<Delivery, 'orgId'>;

/**
 * `dueAt`: a parked delivery's next attempt, or the time from which a watched delivery's message counts as
 * lost.
 */
export interface DueEntry {
  message: DeliveryMessage;
  state: DueState;
  dueAt: string;
  /**
   * Its message was deferred at the last check. A deferred delivery does not expire before its message was
   * resent.
   */
  isDeferred?: true;
}

/** Why an entry moves: its message was resent, or deferred while a queue has a long backlog. */
export type PostponeReason = 'sent' | 'deferred';

/** Messages in a queue from which a late delivery's message counts as waiting, not lost. */
export const LONG_BACKLOG = 10_000;

/** Late deliveries that a run resends while a queue has a long backlog: of one organization and in total. */
export const RESENT_IN_BACKLOG = { ofOrganization: 64, inAll: 1600 };

/** Seconds past due after which the reconciler resends a delivery's message. */
export const DEFAULT_GRACE_SECONDS = 900;

/**
 * Age at which an open delivery ends as `expired`. All attempts span 63.5 minutes, and 51 hours under the
 * slowest allowed retry policy.
 */
export const EXPIRY_SECONDS = 3 * 86_400;

/** Maximum time between two checks of a delivery whose message keeps getting lost. */
export const LONGEST_GRACE_SECONDS = 6 * 3600;

/**
 * Computes the next check of a delivery whose message was just resent. The interval grows with the
 * delivery's age, so the number of messages grows with the logarithm of the wait.
 */
export function computeNextCheck({ id }: Pick<DeliveryMessage, 'id'>, now: Date, graceSeconds: number): Date {
  const age = (now.getTime() - parseCreationTime(id).getTime()) / 1000;
  const seconds = Math.min(Math.max(graceSeconds, age), Math.max(graceSeconds, LONGEST_GRACE_SECONDS));
  return new Date(now.getTime() + Math.ceil(seconds * 1000));
}

export const isExpired = ({ id }: Pick<DeliveryMessage, 'id'>, now: Date): boolean =>
  now.getTime() - parseCreationTime(id).getTime() > EXPIRY_SECONDS * 1000;
