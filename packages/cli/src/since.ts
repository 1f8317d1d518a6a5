import { refuse } from 'terminal/command-line.ts';

/** A time before now: milliseconds ago, or the oldest that there is. */
export type Since = { kind: 'ago'; milliseconds: number } | { kind: 'all' };

const UNIT_MS = new Map([
  ['s', 1000],
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
]);
const MONTH_MS = 30 * 24 * 60 * 60 * 1000;

export function parseSince(given: string): Since {
  if (given === 'all') return { kind: 'all' };
  const [, amount, unit = ''] = /^(\d{1,6})([smhd])$/.exec(given) ?? [];
  const milliseconds = UNIT_MS.get(unit) ?? refuse('a time such as 30s, 10m, 2h or 3d, or all');
  return { kind: 'ago', milliseconds: Number(amount) * milliseconds };
}

/** The time that it names, at most as long ago as events are kept. */
export const toDate = (since: Since): Date =>
  new Date(Date.now() - (since.kind === 'all' ? MONTH_MS : since.milliseconds));
