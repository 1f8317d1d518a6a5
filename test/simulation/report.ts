import { styleText } from 'node:util';
import { PROMISES } from './promises.ts';
import type { Outcome } from './simulate.ts';
import type { Statistics } from './statistics.ts';

type Style = Parameters<typeof styleText>[0];

/** Colored text, if the stream is a terminal that supports it. */
const styled = (style: Style, text: string): string => styleText(style, text, { stream: process.stdout });

const number = (value: number): string => value.toLocaleString('en');

/** The progress of a campaign. */
export function progress(done: number, runs: number, seconds: number, findings: readonly Outcome[]): string {
  const perSecond = Math.round(done / Math.max(seconds, 0.001));
  const red = findings.length === 0 ? '' : `, red: ${findings.map(({ seed }) => seed).join(', ')}`;
  return `  ${number(done)} of ${number(runs)} runs, ${number(perSecond)} a second${red}`;
}

/** What happened in all runs, most frequent first, after the number of runs. */
export function table(runs: number, { counts }: Statistics): string {
  const rows: [string, number][] = [['runs', runs], ...[...counts].toSorted(([a], [b]) => (a < b ? -1 : 1))];
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, count]) => `  ${name.padEnd(width)}  ${number(count).padStart(13)}`).join('\n');
}

/** The command that repeats a run. */
export const replayOf = (seed: number): string => `npm run simulate -- --replay ${seed} --trace`;

/** A run that broke a promise, and the command that repeats it. */
export function finding({ seed, violation }: Outcome): string {
  if (violation === undefined) return '';
  return [
    styled('red', `  seed ${seed}: ${PROMISES[violation.promise]}`),
    `  ${violation.detail}`,
    `  ${replayOf(seed)}`,
  ].join('\n');
}

export function verdict(findings: readonly Outcome[]): string {
  return findings.length === 0
    ? styled('green', '  Every promise held.')
    : styled('red', `  In ${number(findings.length)} of the runs a promise did not hold.`);
}
