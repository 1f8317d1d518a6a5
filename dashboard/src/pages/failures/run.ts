import { ApiFailure, mayPass, pauseAfter } from '../../api/failures.ts';
import type { Target } from './groups.ts';

/** What became of the events of a group. */
export interface Tally {
  sent: number;
  /** They arrived, or are on their way, by another delivery. */
  arrived: number;
  /** Refused, for example because the endpoint was disabled meanwhile. */
  refused: number;
}

/** What resending needs of the page. */
export interface ResendPorts {
  /** Whether the event has arrived at the endpoint, or is on its way by another delivery. */
  hasArrived(target: Target, signal: AbortSignal): Promise<boolean>;
  send(target: Target, signal: AbortSignal): Promise<unknown>;
  /** @returns after some milliseconds, or when it is aborted */
  wait(ms: number, signal: AbortSignal): Promise<void>;
  onProgress(tally: Tally): void;
}

const MAX_TRIES = 4;

/**
 * Resends events one after another, oldest first, so that a receiver gets them in their order. Waits where
 * the API asks for it.
 * @returns when all are processed or it is aborted
 * @throws ApiFailure when the API keeps failing; what is left can be resent by another call
 */
export async function resendTargets(
  targets: readonly Target[],
  ports: ResendPorts,
  signal: AbortSignal,
): Promise<Tally> {
  const tally: Tally = { sent: 0, arrived: 0, refused: 0 };
  for (const target of targets) {
    if (signal.aborted) break;
    const outcome = await patiently(() => resend(target, ports, signal), ports, signal);
    if (outcome === undefined) break;
    tally[outcome] += 1;
    ports.onProgress({ ...tally });
  }
  return tally;
}

async function resend(target: Target, ports: ResendPorts, signal: AbortSignal): Promise<keyof Tally> {
  try {
    if (await ports.hasArrived(target, signal)) return 'arrived';
    await ports.send(target, signal);
    return 'sent';
  } catch (error) {
    const isRefused = error instanceof ApiFailure && [404, 409].includes(error.status);
    if (isRefused) return 'refused';
    throw error;
  }
}

/** Tries again what may succeed later. Undefined when it was aborted. */
async function patiently<Result>(
  action: () => Promise<Result>,
  { wait }: ResendPorts,
  signal: AbortSignal,
): Promise<Result | undefined> {
  for (let failures = 0; ; failures += 1) {
    try {
      return await action();
    } catch (error) {
      if (signal.aborted) return undefined;
      if (!mayPass(error) || failures + 1 >= MAX_TRIES) throw error;
      await wait(pauseAfter(failures, error), signal);
      if (signal.aborted) return undefined;
    }
  }
}
