import type { ApiKey } from '../../domain/api-key.ts';
import type { Log } from '../log-codes.ts';

/** Keeps when keys were last used. */
export interface KeyUses {
  note(key: Pick<ApiKey, 'id' | 'orgId'>, now: Date, timeoutMs: number): Promise<void>;
}

/** A key's use is noted at most so often by an instance, so that it costs next to nothing. */
const EVERY_MS = 5 * 60_000;
/** As for the rate limiter, beside which it happens: neither may be what makes the service slow. */
const TIMEOUT_MS = 500;
/** Keys that an instance remembers at most. */
const REMEMBERED = 1000;

/**
 * Notes that a key is used. Nobody is refused because it could not be noted, and a table that failed is left alone until the next time comes: what is
 * lost is some minutes of what is shown.
 * @returns gives a promise that is never rejected
 */
export function keyUseNotes(uses: KeyUses, log: Log) {
  const noted = new Map<ApiKey['id'], number>();
  return async (key: Pick<ApiKey, 'id' | 'orgId'>, now: Date): Promise<void> => {
    const last = noted.get(key.id);
    if (last !== undefined && now.getTime() - last < EVERY_MS) return;
    if (noted.size >= REMEMBERED) noted.clear();
    noted.set(key.id, now.getTime());
    try {
      await uses.note(key, now, TIMEOUT_MS);
    } catch (error) {
      log('KEY_USE_NOT_NOTED', { error });
    }
  };
}
