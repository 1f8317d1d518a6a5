import * as z from 'zod/mini';

/** Attempts per second to which an endpoint may be limited (docs/specification.md, Webhook endpoints). */
export const MaxPerSecond = /* @__PURE__ */ z.int().check(z.minimum(1), z.maximum(1000));

/**
 * Counter of an endpoint with a limit (docs/decisions/0026-endpoint-rate.md): its next free time, in
 * milliseconds since the epoch with fractions. A change of the limit begins an era: older times are void.
 */
export const RateSchedule = z.object({ next: z.number(), rate: z.int(), era: z.int() });
export type RateSchedule = z.infer<typeof RateSchedule>;

/**
 * A time that was given to a delivery for the attempt after so many others, and how many it has missed.
 */
export const Turn = z.object({ at: z.number(), era: z.int(), attempts: z.int(), missed: z.int() });
export type Turn = z.infer<typeof Turn>;

/** After a change of the limit, so that the attempts that were to start at once have started. */
export const CHANGE_MS = 2000;
/** A longer wait is parked in the table. */
export const LONGEST_DELAYED_MS = 300_000;
/** A parked delivery is resumed within this time or half of its wait, so that a raised limit has effect. */
const SHORTEST_PARKED_MS = 3_600_000;
/** From the time at which a delivery's message may come to the last at which it may start. */
const SPREAD_MS = 2000;

/**
 * How long an attempt may wait for its time within an invocation. SQS delays messages by whole seconds, and
 * this spreads them evenly up to 100 a second. Above, it would take too many invocations.
 */
const computeHeldMs = (rate: number): number => Math.min(950, Math.max(150, 95_000 / rate));

/**
 * Whether a time has passed unused: many late attempts must not start at once. Each miss allows a later
 * start, so that an attempt does start in a queue that is late for long.
 */
export const isMissed = ({ at, missed }: Turn, rate: number, now: Date): boolean =>
  now.getTime() > at + (SPREAD_MS - computeHeldMs(rate)) * 4 ** missed;

/** When the message of a delivery is to come: shortly before its time, or early if that is far. */
export function computeReceipt({ at }: Turn, rate: number, now: Date): Date {
  const waitMs = at - computeHeldMs(rate) - now.getTime();
  return new Date(now.getTime() + Math.min(waitMs, Math.max(SHORTEST_PARKED_MS, waitMs / 2)));
}
