import type { Schema } from './client.ts';
import { ApiFailure, isGone, pauseAfter } from './failures.ts';

type DeliveryStatus = Schema<'ListedDelivery'>['status'];

/*
 * Polling intervals. All users of an organization share 600 requests a minute, so a page polls when something
 * can have changed, and less often the longer nothing has.
 */

export const isOver = ({ status }: { status: DeliveryStatus }): boolean =>
  status !== 'pending' && status !== 'retrying';

const SECOND = 1000;
/** Polling interval of a list: new rows show within two seconds. */
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
 * Milliseconds until the next poll of a delivery in progress: when its next attempt may have ended, and less
 * often after that.
 * @param looked time of the last poll by the service's clock, in milliseconds since the epoch
 */
export function lookAgainIn(
  {
    status,
    nextRetryAt,
    createdAt,
  }: { status: DeliveryStatus; nextRetryAt: string | null; createdAt: string },
  looked: number,
): number {
  // An attempt that is in progress ends within seconds.
  const since = status === 'retrying' && nextRetryAt === null ? looked : Date.parse(nextRetryAt ?? createdAt);
  return since > looked
    ? Math.min(MAX_WAIT_MS, Math.max(SOONEST_MS, since - looked + ATTEMPT_MS))
    : growing(looked - since);
}

/**
 * Milliseconds until the next poll of a list.
 * @param failures consecutive failed polls
 * @param error of the last one
 */
export const nextLookIn = (failures: number, error: unknown): number =>
  failures === 0 ? LIVE_MS : Math.max(LIVE_MS, pauseAfter(failures, error));

/**
 * Milliseconds until the next poll of one delivery; false when it is terminal.
 * @param looked time of the last poll, as for {@link lookAgainIn}
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
 * Milliseconds until the next poll of a test delivery, which usually arrives within a second; false when it
 * is terminal.
 * @param waited milliseconds since it was sent
 * @param delivery undefined until it exists
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
