import * as z from 'zod/mini';

/**
 * Attempts per second to which a customer may limit an endpoint (docs/specification.md, Webhook endpoints).
 */
const MAX_PER_SECOND = { least: 1, most: 1000 };
export const MaxPerSecond = /* @__PURE__ */ z
  .int()
  .check(z.minimum(MAX_PER_SECOND.least), z.maximum(MAX_PER_SECOND.most));

/**
 * Schedule of an endpoint with a limit (docs/decisions/0026-endpoint-rate.md). Milliseconds since the epoch,
 * with fractions. Only `next` enforces the limit; the others are estimates, which may be wrong or lost.
 */
export const RateSchedule = z.object({
  /** When the next attempt may start. */
  next: z._default(z.number(), 0),
  /** End of the line of messages that wait in a queue. */
  queued: z.number(),
  /** End of the line of parked deliveries, which is behind the one before. */
  parked: z.number(),
  /** The limit for which the estimates hold. */
  rate: z.int(),
});
export type RateSchedule = z.infer<typeof RateSchedule>;

/** A parked delivery's place in its endpoint's line: an estimate, void at another rate. */
export const ParkedTurn = z.object({ at: z.number(), rate: z.int() });
export type ParkedTurn = z.infer<typeof ParkedTurn>;

type Pointer = 'next' | 'queued' | 'parked';

/**
 * A change of a schedule that concurrent changes can only delay: it names the states in which it is right.
 */
export interface ScheduleUpdate {
  rate: number;
  /**
   * Whether it is refused unless the stored rate is another one, or there is no schedule; else the opposite.
   */
  restarts: boolean;
  /** Range of each pointer, `over` exclusive, without which the change is refused. */
  when: Partial<Record<Pointer, { over?: number; upTo?: number }>>;
  set: Partial<Record<Pointer, number>>;
  add: Partial<Record<Pointer, number>>;
}

/** Messages of an endpoint that want a turn, by what they have behind them. */
export interface Demand {
  /** Have waited in queues for so long that they are parked if they get no turn. */
  overdue: number;
  /** Have waited in a queue until their place. */
  returning: number;
  /** Of deliveries that were parked until shortly before their place. */
  resumed: number;
  fresh: number;
}

/**
 * Times at which attempts may start, and the places of the others in line, each in the order of the demand.
 */
export interface Turns {
  starts: number[];
  queued: number[];
  parked: number[];
}

/** How far ahead messages wait in queues, and how long before its turn a parked delivery is resumed. */
export interface WaitTerms {
  horizonMs: number;
  leadMs: number;
}

const HORIZON_SECONDS = 300;
const LEAD_SECONDS = 60;
/** Of the grace after which a message counts as lost: a wait in queues must be well within it. */
const LONGEST_WAIT = 1 / 2;

/**
 * @param graceSeconds seconds past due after which the reconciler resends a message
 */
export function computeWaitTerms(graceSeconds: number): WaitTerms & { overdueMs: number } {
  const horizon = Math.min(HORIZON_SECONDS, graceSeconds / 3);
  return {
    horizonMs: horizon * 1000,
    leadMs: Math.min(LEAD_SECONDS, horizon / 5) * 1000,
    overdueMs: graceSeconds * LONGEST_WAIT * 1000,
  };
}

/**
 * A delivery far from its turn is resumed after half of its wait, but not within this time, so that a raised
 * limit has its effect: a wait of three days takes six resumptions.
 */
const SHORTEST_PARKED_MS = 3_600_000;

/**
 * Longest wait for a start within an invocation: below the second that an unlimited fast attempt may take.
 */
const LONGEST_HELD_MS = 950;
const SHORTEST_HELD_MS = 150;
/** Attempts that an endpoint has waiting in invocations at a time. */
const HELD_ATTEMPTS = 95;
/** SQS delays by whole seconds, and messages are received some time after that. */
const SPREAD_MS = 1050;

/**
 * How long a message may wait for its start within an invocation. Messages of a line arrive in lumps, because
 * SQS delays them by whole seconds. Up to 100 a second this spreads them evenly.
 */
const computeHeldMs = (rate: number): number =>
  Math.min(LONGEST_HELD_MS, Math.max(SHORTEST_HELD_MS, (HELD_ATTEMPTS / rate) * 1000));

/**
 * How far starts that passed unused may be made up for. Any time `t` has at most `rate * (t + this) + 1`
 * starts. It is 0.1 s up to 100 attempts a second. Above, where a wait in invocations would need many of
 * them, it lets the messages of a second start in lumps.
 */
export const computeToleranceMs = (rate: number): number => SPREAD_MS - computeHeldMs(rate);

/** Earliest receipt of a message with this place in line: within a second from then it finds its start. */
export function computeReceipt(place: number, rate: number): Date {
  const held = computeHeldMs(rate);
  return new Date(place - held + (held + computeToleranceMs(rate) - 1000) / 2);
}

/** When the reconciler resumes a parked delivery. */
export function computeResumption({ at }: ParkedTurn, now: Date, { leadMs }: WaitTerms): Date {
  const waitMs = Math.max(0, at - leadMs - now.getTime());
  return new Date(now.getTime() + Math.min(waitMs, Math.max(SHORTEST_PARKED_MS, waitMs / 2)));
}

/**
 * Whether a resumed delivery's turn is still far off: it was resumed only so that a new rate takes effect.
 */
export const isResumedEarly = (
  turn: ParkedTurn | undefined,
  rate: number,
  now: Date,
  { leadMs }: WaitTerms,
): turn is ParkedTurn => turn?.rate === rate && turn.at - 1.5 * leadMs > now.getTime();

/** Milliseconds between two starts, in whole microseconds. */
export const computeIntervalMs = (rate: number): number => Math.round(1e6 / rate) / 1000;

const roundToMicros = (ms: number): number => Math.round(ms * 1000) / 1000;

/**
 * Plans the turns of an endpoint's messages: starts as long as there are any within the time that an
 * invocation may hold a message, then places in the queued line, and beyond its horizon in the parked one.
 * New messages do not overtake a line, unless it leaves starts unused.
 * @param seen the schedule as last read, however old; undefined when there is none
 * @returns the update, and the turns once it is applied; refused when the schedule has changed in between
 */
export function planTurns(
  seen: RateSchedule | undefined,
  demand: Demand,
  rate: number,
  nowMs: number,
  { horizonMs, leadMs }: WaitTerms,
): { update: ScheduleUpdate; read(applied: RateSchedule): Turns } {
  const interval = computeIntervalMs(rate);
  const span = (count: number) => roundToMicros(count * interval);
  const restarts = seen?.rate !== rate;
  const { queued, parked } = restarts ? { queued: 0, parked: 0 } : seen;
  const next = seen?.next ?? 0;
  const heldUntil = nowMs + computeHeldMs(rate);
  const update: ScheduleUpdate = { rate, restarts, when: {}, set: {}, add: {} };

  /** Moves a pointer by some intervals, from `start` unless it is over that already. */
  function advance(name: Pointer, value: number, start: number, count: number, upTo?: number): number {
    const isOver = value > start;
    if (isOver) update.add[name] = span(count);
    else update.set[name] = roundToMicros(start + span(count));
    if (name === 'next' || !restarts)
      update.when[name] = isOver ? { over: start, ...(upTo !== undefined && { upTo }) } : { upTo: start };
    return (isOver ? value : start) + span(count);
  }

  const hasQueue = queued > heldUntil;
  // While it lasts, parked deliveries keep the queued line at the lead. A shorter one means that they are
  // late, or that the estimate is wrong.
  const hasParked = parked > Math.max(queued, nowMs + leadMs) && queued > nowMs + leadMs / 2;
  const prior = demand.overdue + demand.returning;
  const earliest = nowMs - computeToleranceMs(rate);
  const start = Math.max(next, earliest);
  const free = start > heldUntil ? 0 : Math.floor((heldUntil - start) / interval) + 1;
  const starts = Math.min(free, prior + (hasQueue ? 0 : demand.resumed + demand.fresh));
  const end = starts === 0 ? start : advance('next', next, earliest, starts, heldUntil - span(starts - 1));

  /** Those of a kind that got no start, by the number of messages before them. */
  const without = (count: number, before: number) => Math.max(0, count - Math.max(0, starts - before));
  const overdue = without(demand.overdue, 0);
  const returning = without(demand.returning, demand.overdue) + without(demand.resumed, prior);
  const fresh = without(demand.fresh, prior + demand.resumed);
  // A clock that is behind sees the last start ahead of it, which is no long line.
  const horizon = Math.max(nowMs, end) + horizonMs;
  const isFull = queued > horizon;
  const queueing = isFull ? 0 : returning + (hasParked ? 0 : fresh);
  const queueEnd =
    queueing === 0
      ? Math.max(queued, end)
      : advance('queued', queued, Math.max(end, nowMs), queueing, horizon);
  const parking = overdue + returning + fresh - queueing;
  if (parking > 0) advance('parked', parked, Math.max(queueEnd, nowMs + leadMs), parking);

  if (restarts) {
    update.set.queued ??= end;
    update.set.parked ??= 0;
  } else {
    // New messages overtake none that joined a line since it was seen.
    if (starts > prior) update.when.queued ??= { upTo: heldUntil };
    if (starts > prior || (!hasParked && fresh > 0 && queueing > 0)) update.when.parked ??= { upTo: parked };
  }
  const read = (applied: RateSchedule): Turns => {
    const list = (last: number, count: number) =>
      Array.from({ length: count }, (_, index) => roundToMicros(last - span(count - index)));
    return {
      starts: list(applied.next, starts),
      queued: list(applied.queued, queueing),
      parked: list(applied.parked, parking),
    };
  };
  return { update, read };
}
