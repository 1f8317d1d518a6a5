import type { Fate } from './processes.ts';
import type { Random } from './random.ts';

/** Events of the world besides the steps of its processes. */
export const HAPPENINGS = [
  'event',
  'test-event',
  'example',
  'channel-message',
  'message',
  'read',
  'attempt-now',
  'job-stopped',
  'url-changed',
  'limit-changed',
  'operator',
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
  'process-frozen',
  'clock-stepped',
  'dispatchers-stalled',
  'minute-skipped',
  'run-doubled',
  'organization-in-doubt',
  'time-passes',
] as const;
export type Happening = (typeof HAPPENINGS)[number];

/** Actions of customers, which are no faults. */
const CUSTOMERS: Partial<Record<Happening, number>> = {
  event: 6,
  'test-event': 1,
  example: 0.5,
  'channel-message': 1,
  message: 1,
  read: 4,
  'attempt-now': 1,
  'job-stopped': 0.3,
  'url-changed': 0.3,
  'limit-changed': 0.3,
  operator: 0.3,
  redelivery: 2,
  'redelivery-job': 1,
  registration: 0.6,
  deletion: 0.5,
  subscription: 0.6,
  reset: 0.8,
};

/** Relative frequency of each fault in a run that has it, compared with actions of customers. */
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
  'process-frozen': 1,
  'clock-stepped': 1,
  'dispatchers-stalled': 0.5,
  'minute-skipped': 1,
  'run-doubled': 1,
  'organization-in-doubt': 1,
  'time-passes': 3,
};

/** Share of calls that fail in some form, or whose process ends before them, in a run that has this fault. */
export const CALL_FAULTS: Record<Exclude<Fate, 'goes-on'> | 'ends', number> = {
  fails: 0.03,
  'fails-after': 0.03,
  repeats: 0.05,
  contends: 0.2,
  'arrives-late': 0.1,
  'answers-late': 0.1,
  'ends-after': 0.015,
  'lands-late': 0.015,
  ends: 0.015,
};
export type CallFault = keyof typeof CALL_FAULTS;

/** Clocks of two processes differ by less than the margin between a lease and the function's timeout. */
const SKEW_WITHIN_MARGIN_MS = 2400;
const SKEW_BEYOND_MARGIN_MS = 60_000;

/** The faults of one run. */
export interface Faults {
  /** No faults, so that everything also has to happen in time. */
  isCalm: boolean;
  /**
   * Clocks differ by more than leases allow for, and processes continue after their timeout, so leases may
   * overlap.
   */
  beyondMargin: boolean;
  maxSkewMs: number;
  /** How many events happen before the calm phase. */
  steps: number;
  perCall: Readonly<Partial<Record<CallFault, number>>>;
  happenings: Readonly<Partial<Record<Happening, number>>>;
  /** How often an event happens between two steps of the processes. */
  perStep: number;
  /** Lengths of time that may pass at once, in seconds. */
  jumps: readonly number[];
  /** Whether reads of batches leave out a part. */
  leavesOut: boolean;
  /** Share of eventually consistent reads that return an earlier version. */
  staleReads: number;
  /** Whether scheduled workers have time for a few entries only, and one organization has many. */
  shortRuns: boolean;
}

/** Each run has its own selection of faults: some defects only show when other faults are absent. */
export function faultsOf(random: Random): Faults {
  if (random.chance(0.08)) return calm(random);
  const beyondMargin = random.chance(0.15);
  const shortRuns = random.chance(0.1);
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
    perCall: shortRuns ? {} : some(CALL_FAULTS, 0.45),
    happenings: { ...CUSTOMERS, ...some(MISHAPS, 0.5) },
    perStep: random.pick([0.05, 0.1, 0.2]),
    jumps: random.chance(0.04) ? [3600, 6 * 3600, 86_400] : [1, 10, 25, 30, 60, 300, 900, 3600],
    leavesOut: random.chance(0.2),
    staleReads: random.pick([0, 0.2]),
    shortRuns,
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
  leavesOut: false,
  staleReads: 0,
  shortRuns: false,
});

/** The outcome of the next call; `ends` when its process ends before it. */
export function fateOf(random: Random, perCall: Faults['perCall']): Fate | 'ends' {
  let left = random.next();
  for (const fault in perCall) {
    const rate = perCall[fault as CallFault] ?? 0;
    if (left < rate) return fault as CallFault;
    left -= rate;
  }
  return 'goes-on';
}
