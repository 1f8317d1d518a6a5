import * as z from 'zod/mini';
import type { AttemptRecord } from './delivery.ts';

/**
 * Attempts by their duration: the number of a class and how many attempts it has. Class `n` ends at the
 * `n`-th power of the square root of 2, in milliseconds. The first one begins at 0, the last one has no end.
 */
export const AttemptDurations = z.record(z.string(), z.int());
export type AttemptDurations = z.infer<typeof AttemptDurations>;

/** Up to 8 ms, and from 8.2 s: a receiver has 10. Few, because each is an attribute of an item below 1 KB. */
const [FIRST_CLASS, LAST_CLASS] = [6, 27];
export const DURATION_CLASSES = /* @__PURE__ */ Array.from(
  { length: LAST_CLASS - FIRST_CLASS + 1 },
  (_, index) => String(FIRST_CLASS + index),
);

const getEnd = (number: number): number => 2 ** (number / 2);

function findClass(durationMs: number): string {
  const number = Math.ceil(2 * Math.log2(Math.max(1, durationMs)));
  return String(Math.min(LAST_CLASS, Math.max(FIRST_CLASS, number)));
}

export const addDurations = (one: AttemptDurations = {}, other: AttemptDurations = {}): AttemptDurations => {
  const sum = { ...one };
  for (const [number, count] of Object.entries(other)) sum[number] = (sum[number] ?? 0) + count;
  return sum;
};

/** The field of a ledger entry; absent without attempts. */
export const withDurations = (durations: AttemptDurations): { durations?: AttemptDurations } =>
  Object.keys(durations).length === 0 ? {} : { durations };

export function countDurations(attempts: readonly Pick<AttemptRecord, 'durationMs'>[]): AttemptDurations {
  const counts: AttemptDurations = {};
  for (const { durationMs } of attempts) {
    const number = findClass(durationMs);
    counts[number] = (counts[number] ?? 0) + 1;
  }
  return counts;
}

/** Estimates of how long attempts took, in whole milliseconds. */
export interface Latency {
  p50Ms: number;
  p95Ms: number;
}

/** @returns null without attempts */
export function estimateLatency(durations: AttemptDurations): Latency | null {
  const classes = DURATION_CLASSES.map((name) => durations[name] ?? 0);
  const total = classes.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  return { p50Ms: estimateQuantile(classes, total / 2), p95Ms: estimateQuantile(classes, total * 0.95) };
}

/** Attempts of a class are taken to be spread evenly over it. */
function estimateQuantile(classes: readonly number[], wanted: number): number {
  let before = 0;
  for (const [index, count] of classes.entries()) {
    if (before + count >= wanted && count > 0) {
      const end = getEnd(FIRST_CLASS + index);
      const begin = index === 0 ? 0 : getEnd(FIRST_CLASS + index - 1);
      return Math.round(begin + ((wanted - before) / count) * (end - begin));
    }
    before += count;
  }
  return Math.round(getEnd(LAST_CLASS));
}
