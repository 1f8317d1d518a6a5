import type { DeliveryMessage } from './delivery.ts';
import { parseCreationTime } from './ids.ts';

/**
 * Why a delivery is in the due index: `parked` ones have no message by intent, `watched` ones should have
 * one, and are looked after in case that it was lost. A delivery that ends at its first attempt never gets
 * there.
 */
export const DUE_STATES = ['parked', 'watched'] as const;
export type DueState = (typeof DUE_STATES)[number];

/** Name of the index, for the store and the stack. */
export const DUE_INDEX = 'due';

/**
 * An entry of the due index. `dueAt`: a parked delivery's next attempt; when a watched one's message counts
 * as lost.
 */
export interface DueEntry {
  message: DeliveryMessage;
  state: DueState;
  dueAt: string;
  /**
   * Its message was put off at its last look. Such a delivery does not expire before its message was sent
   * again.
   */
  isDeferred?: true;
}

/** Why an entry is moved on: its message was sent again, or put off while a queue has a long backlog. */
export type PostponeReason = 'sent' | 'deferred';

/** Messages waiting in a queue beyond which a late delivery's message counts as waiting rather than lost. */
export const LONG_BACKLOG = 10_000;

/**
 * Late deliveries of each shard whose message a run sends again while a queue has a long backlog, the longest
 * due first: of one organization, and in all. So one organization's backlog keeps nobody's lost message from
 * being replaced.
 */
export const RESENT_IN_BACKLOG = { ofOrganization: 2, inAll: 50 };

/** How long a delivery may be late before its message counts as lost. Seconds. */
export const DEFAULT_GRACE_SECONDS = 900;

/**
 * Age at which a delivery that is still open ends as `expired`. All attempts span 63.5 minutes, and 51 hours
 * under the slowest retry policy that a deployment may set: what is open after this is something that no code
 * could deal with.
 */
export const EXPIRY_SECONDS = 3 * 86_400;

/** A stored row that its schema rejects, with the error. */
export interface UnreadableRow {
  pk: string;
  sk: string;
  error: unknown;
}

/** Maximum time between two checks of a delivery whose message keeps getting lost. */
export const LONGEST_GRACE_SECONDS = 6 * 3600;

/**
 * Computes the next check of a delivery whose message was just sent again. The interval grows with the
 * delivery's age, so the number of messages grows with the logarithm of the wait.
 */
export function computeNextCheck({ id }: Pick<DeliveryMessage, 'id'>, now: Date, graceSeconds: number): Date {
  const age = (now.getTime() - parseCreationTime(id).getTime()) / 1000;
  const seconds = Math.min(Math.max(graceSeconds, age), Math.max(graceSeconds, LONGEST_GRACE_SECONDS));
  return new Date(now.getTime() + Math.ceil(seconds * 1000));
}

export const isExpired = ({ id }: Pick<DeliveryMessage, 'id'>, now: Date): boolean =>
  now.getTime() - parseCreationTime(id).getTime() > EXPIRY_SECONDS * 1000;
