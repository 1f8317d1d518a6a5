import type { Fate } from './processes.ts';
import type { Random } from './random.ts';

/** What happens to the world besides its processes going on. */
export const HAPPENINGS = [
  'event',
  'test-event',
  'redelivery',
  'redelivery-job',
  'registration',
  'deletion',
  'subscription',
  'reset',
  'event-lost',
  'message-lost',
  'message-doubled',
  'message-delayed',
  'messages-reordered',
  'messages-refused',
  'lane-crowded',
  'batch-replayed',
  'stream-stalled',
  'process-lost',
  'minute-skipped',
  'run-doubled',
  'organization-in-doubt',
  'time-passes',
] as const;
export type Happening = (typeof HAPPENINGS)[number];

/** What customers do, which is no fault. */
const CUSTOMERS: Partial<Record<Happening, number>> = {
  event: 6,
  'test-event': 1,
  redelivery: 2,
  'redelivery-job': 3,
  registration: 0.6,
  deletion: 0.5,
  subscription: 0.6,
  reset: 0.8,
};

/** How often each fault happens where it does happen, against what customers do. */
const MISHAPS: Partial<Record<Happening, number>> = {
  'event-lost': 0.3,
  'message-lost': 2,
  'message-doubled': 2,
  'message-delayed': 2,
  'messages-reordered': 2,
  'messages-refused': 1,
  'lane-crowded': 1,
  'batch-replayed': 2,
  'stream-stalled': 1,
  'process-lost': 2,
  'minute-skipped': 1,
  'run-doubled': 1,
  'organization-in-doubt': 1,
  'time-passes': 3,
};

/** How often a call has another fate than to go on, or its process ends before it, where that happens. */
const CALL_FAULTS: Record<Exclude<Fate, 'goes-on'> | 'ends', number> = {
  fails: 0.03,
  'fails-after': 0.03,
  repeats: 0.05,
  contends: 0.2,
  'answers-late': 0.1,
  'ends-after': 0.015,
  'lands-late': 0.015,
  ends: 0.015,
};
type CallFault = keyof typeof CALL_FAULTS;

/** Clocks of two processes differ by less than what a lease outlasts a function's timeout by. */
const SKEW_WITHIN_MARGIN_MS = 2400;
const SKEW_BEYOND_MARGIN_MS = 60_000;

/** What may go wrong in one run. */
export interface Faults {
  /** Nothing goes wrong, so that everything has to happen in time as well. */
  isCalm: boolean;
  /**
   * Clocks differ by more than leases allow for, and processes go on after their time. Then one lease may
   * overlap another.
   */
  beyondMargin: boolean;
  maxSkewMs: number;
  /** How many times something happens before nothing goes wrong any more. */
  steps: number;
  perCall: Readonly<Partial<Record<CallFault, number>>>;
  happenings: Readonly<Partial<Record<Happening, number>>>;
  /** How often something happens between two steps of the processes. */
  perStep: number;
  /** Lengths of time that may pass at once, in seconds. */
  jumps: readonly number[];
  /** How often a read without strong consistency shows what was there a moment ago. */
  staleReads: number;
}

/**
 * Each run has a choice of the faults of its own: what all of them together would drown shows when some of
 * them are absent.
 */
export function faultsOf(random: Random): Faults {
  if (random.chance(0.08)) return calm(random);
  const beyondMargin = random.chance(0.15);
  const some = <K extends string>(
    all: Partial<Record<K, number>>,
    share: number,
  ): Partial<Record<K, number>> =>
    Object.fromEntries(
      Object.entries<number | undefined>(all).flatMap(([name, rate]) =>
        random.chance(share) ? [[name, Number(rate) * random.pick([0.3, 1, 2])]] : [],
      ),
    ) as Partial<Record<K, number>>;
  return {
    isCalm: false,
    beyondMargin,
    maxSkewMs: beyondMargin ? SKEW_BEYOND_MARGIN_MS : random.pick([0, SKEW_WITHIN_MARGIN_MS]),
    steps: random.between(40, 500),
    perCall: some(CALL_FAULTS, 0.45),
    happenings: { ...CUSTOMERS, ...some(MISHAPS, 0.5) },
    perStep: random.pick([0.05, 0.1, 0.2]),
    jumps: random.chance(0.04) ? [3600, 6 * 3600, 86_400] : [1, 10, 25, 30, 60, 300, 900, 3600],
    staleReads: random.pick([0, 0.2]),
  };
}

const calm = (random: Random): Faults => ({
  isCalm: true,
  beyondMargin: false,
  maxSkewMs: 0,
  steps: random.between(20, 200),
  perCall: {},
  happenings: CUSTOMERS,
  perStep: 0.05,
  jumps: [],
  staleReads: 0,
});

/** What becomes of the next call; `ends` when its process ends before it. */
export function fateOf(random: Random, perCall: Faults['perCall']): Fate | 'ends' {
  let left = random.next();
  for (const fault in perCall) {
    const rate = perCall[fault as CallFault] ?? 0;
    if (left < rate) return fault as CallFault;
    left -= rate;
  }
  return 'goes-on';
}
