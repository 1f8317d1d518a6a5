import { isOpen } from './moves.ts';
import type { WorldContext } from './world-context.ts';

const LONGEST_GRACE_SECONDS = 6 * 3600;
/** Time between two tries of work that the fan-out failed at. */
const LETTER_SECONDS = 900;
/** For which a receiver can put off an attempt. */
const LONGEST_HOLD_SECONDS = 3600;
/** For attempts, receives and the reconciler's interval. */
const ROOM_SECONDS = 1800;

/**
 * The longest time in which everything must end in the calm phase: the longest wait of a lost message, and
 * all attempts after it. Starts at an endpoint with a limit may take longer, by differences of clocks.
 */
export function longestRestMs({
  tables,
  clock,
  terms,
  faults,
  shards,
  createdMs,
}: Pick<WorldContext, 'tables' | 'clock' | 'terms' | 'faults' | 'shards' | 'createdMs'>): number {
  const { graceSeconds, retry, attempts, maxReceives } = terms;
  const ages = [...tables.deliveries.values()]
    .filter(isOpen)
    .map(({ id }) => (clock.ms - createdMs(id)) / 1000);
  const lost = Math.max(graceSeconds, Math.min(Math.max(0, ...ages), LONGEST_GRACE_SECONDS));
  let waits = 0;
  for (let attempt = 1; attempt < attempts; attempt += 1)
    waits += Math.max(
      Math.min(retry.baseSeconds * 2 ** (attempt - 1), retry.capSeconds),
      LONGEST_HOLD_SECONDS,
    );
  // Each message that moves early to the dead-letter queue leaves its delivery to the reconciler.
  const givenUp = maxReceives < 100 ? attempts * graceSeconds : 0;
  const stalledMs = Math.max(0, ...shards.map(({ stalledUntilMs }) => stalledUntilMs - clock.ms));
  return (LETTER_SECONDS + lost + waits + givenUp + ROOM_SECONDS) * 1000 + stalledMs + 2 * faults.maxSkewMs;
}
