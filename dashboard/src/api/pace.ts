import type { Schema } from './client.ts';
import { ApiFailure, isGone, pauseAfter } from './failures.ts';

type DeliveryStatus = Schema<'ListedDelivery'>['status'];

/*
 * How often something is asked for again. All people of an organization share its requests, 600 a minute,
 * with one another: whoever waits for something looks again when it can have changed, and less often the
 * longer nothing has.
 */

/** Whether nothing more will become of a delivery. */
export const isOver = ({ status }: { status: DeliveryStatus }): boolean =>
  status !== 'pending' && status !== 'retrying';

const SECOND = 1000;
/** From one look at a list to the next: what is new is to be seen within two seconds. */
export const LIVE_MS = 1_200;
const [SOONEST_MS, LATEST_MS] = [SECOND, 15 * SECOND];
/** An attempt that is due may be moved, or its endpoint disabled. */
const MAX_WAIT_MS = 60 * SECOND;
/** From when an attempt is due until it may have ended. */
const ATTEMPT_MS = 500;
/** A pause is this part of the time that has been waited. */
const SHARE = 4;

/** A pause that grows with what has been waited. @param waited milliseconds */
const growing = (waited: number): number => Math.min(LATEST_MS, Math.max(SOONEST_MS, waited / SHARE));

/**
 * After how many milliseconds to look again at a delivery under way: when its next attempt may have ended,
 * and less and less often after that.
 * @param looked when it was looked at, by the service's clock in milliseconds since the epoch
 */
export function lookAgainIn(
  {
    status,
    nextRetryAt,
    createdAt,
  }: { status: DeliveryStatus; nextRetryAt: string | null; createdAt: string },
  looked: number,
): number {
  const since = Date.parse(status === 'retrying' && nextRetryAt !== null ? nextRetryAt : createdAt);
  return since > looked
    ? Math.min(MAX_WAIT_MS, Math.max(SOONEST_MS, since - looked + ATTEMPT_MS))
    : growing(looked - since);
}

/**
 * Milliseconds to the next look at a list. @param failures of the looks before, without a success in between
 * @param error of the last one
 */
export const nextLookIn = (failures: number, error: unknown): number =>
  failures === 0 ? LIVE_MS : Math.max(LIVE_MS, pauseAfter(failures, error));

/**
 * Milliseconds to the next look at one delivery; false when nothing more will come of it.
 * @param looked when it was looked at, as for {@link lookAgainIn}
 */
export function followIn(
  delivery: Parameters<typeof lookAgainIn>[0] | undefined,
  looked: number,
  error: unknown,
): number | false {
  if (isGone(error) || (delivery !== undefined && isOver(delivery))) return false;
  const wait = delivery === undefined ? LATEST_MS : lookAgainIn(delivery, looked);
  return error instanceof ApiFailure ? Math.max(LATEST_MS, wait, pauseAfter(0, error)) : wait;
}

const TEST_MS = 400;
const TEST_BRISK_MS = 5 * SECOND;

/**
 * Milliseconds to the next look at a test, which mostly arrives within a second; false when nothing more will
 * come of it. @param waited milliseconds since it was sent @param delivery undefined as long as it is not
 * there
 */
export function testLookIn(
  waited: number,
  delivery: Parameters<typeof lookAgainIn>[0] | undefined,
  looked: number,
  error: unknown,
): number | false {
  if (error || (delivery !== undefined && (isOver(delivery) || waited >= TEST_BRISK_MS)))
    return followIn(delivery, looked, error);
  return waited < TEST_BRISK_MS ? TEST_MS : growing(waited - TEST_BRISK_MS);
}
