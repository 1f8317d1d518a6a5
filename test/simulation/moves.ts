import type { Delivery } from '../../functions/delivery/delivery.ts';
import type { RetryPolicy } from '../../functions/delivery/timing.ts';
import type { PromiseName } from './promises.ts';
import type { Due } from './tables.ts';

export const isOpen = ({ status }: Delivery): boolean => status === 'pending' || status === 'retrying';

type Fault = [promise: PromiseName, detail: string];

/** The limits of a delivery. */
interface Promised {
  retry: RetryPolicy;
  /** Maximum of attempts. */
  attempts: number;
  /** The shortest wait for the next one that the receiver has asked for. */
  heldMs: number;
}

/**
 * What is wrong with a state change of a delivery; undefined when it is allowed.
 * @param speed how many times faster than `retry` says its waits pass
 */
export function faultOfMove(
  before: Delivery | undefined,
  after: Delivery,
  due: Due | undefined,
  promised: Promised,
  speed: number,
): Fault | undefined {
  if (before === undefined) return faultOfAddition(after);
  if (!isOpen(before)) return ['one end', `it changed after it was ${before.status}`];
  return (
    faultOfCount(before, after, promised) ??
    faultOfLog(before, after, promised, speed) ??
    (isOpen(after) ? faultOfOpen(after, due) : faultOfEnd(before, after, due, promised))
  );
}

function faultOfAddition({ status, attempts, attemptLog, lease }: Delivery): Fault | undefined {
  const isNew = attempts === 0 && attemptLog.length === 0 && lease === undefined;
  if (isNew && (status === 'pending' || status === 'skipped')) return undefined;
  return ['record', `it was added as ${status} after ${attempts} attempts`];
}

function faultOfCount(before: Delivery, after: Delivery, promised: Promised): Fault | undefined {
  if (after.attempts > promised.attempts) return ['eight attempts', `attempt ${after.attempts} was claimed`];
  const isClaimed = after.lease !== undefined && after.lease.token !== before.lease?.token;
  if (after.attempts !== before.attempts + (isClaimed ? 1 : 0))
    return ['eight attempts', `the count went from ${before.attempts} to ${after.attempts}`];
  return undefined;
}

function faultOfLog(
  before: Delivery,
  after: Delivery,
  { retry, attempts, heldMs }: Promised,
  speed: number,
): Fault | undefined {
  const added = after.attemptLog.length - before.attemptLog.length;
  if (added === 0) return undefined;
  const last = after.attemptLog.at(-1);
  if (added !== 1 || last === undefined) return ['record', `${added} attempts were recorded at once`];
  if (before.lease === undefined) return ['lease', `attempt ${last.number} was recorded without a lease`];
  if (last.number !== before.attempts)
    return ['lease', `attempt ${last.number} was recorded while ${before.attempts} was in progress`];
  if (last.durationMs < 0) return ['record', `attempt ${last.number} took ${last.durationMs} ms`];
  if (after.status !== 'retrying' || after.nextRetryAt === undefined) return undefined;
  if (after.attempts >= attempts)
    return ['record', `it waits for another attempt after attempt ${last.number}`];
  const wait = new Date(after.nextRetryAt).getTime() - new Date(last.startedAt).getTime() - last.durationMs;
  const promised = Math.min(retry.baseSeconds * 2 ** (last.number - 1), retry.capSeconds) * 1000;
  return wait === Math.max(Math.ceil(promised / speed), heldMs)
    ? undefined
    : ['not before its time', `it waits ${wait} ms after attempt ${last.number}`];
}

function faultOfOpen(after: Delivery, due: Due | undefined): Fault | undefined {
  if (after.parked && due?.state !== 'parked')
    return ['nothing lost', 'it is parked outside of the due index'];
  if (after.attemptLog.length > 0 && due === undefined)
    return ['nothing lost', 'it waits for its next attempt outside of the due index'];
  return undefined;
}

function faultOfEnd(
  before: Delivery,
  after: Delivery,
  due: Due | undefined,
  promised: Promised,
): Fault | undefined {
  const { status, terminalAt, terminalReason, lease, nextRetryAt, attempts } = after;
  if (terminalAt === undefined || lease !== undefined || nextRetryAt !== undefined || due !== undefined)
    return ['one end', `it is ${status} and something still waits for it`];
  if (status === 'exhausted' && (attempts !== promised.attempts || terminalReason !== 'max_attempts'))
    return ['record', `it is exhausted after ${attempts} attempts`];
  if (status === 'succeeded' && after.attemptLog.at(-1)?.error !== undefined)
    return ['record', 'it succeeded by an attempt that failed'];
  const isSettled = after.attemptLog.length > before.attemptLog.length;
  const leasedUntil = before.lease?.until ?? 0;
  if (!isSettled && leasedUntil > new Date(terminalAt).getTime())
    return ['lease', `it was ${status} while a worker held it`];
  return undefined;
}
