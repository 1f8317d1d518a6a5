import { stripVTControlCharacters } from 'node:util';
import { harmless } from './format.ts';
import type { Paint } from './paint.ts';

const width = (cell: string): number => stripVTControlCharacters(cell).length;

/** Aligned columns, numbers right-aligned, with an indent of two. */
export function grid(head: readonly string[], rows: readonly (readonly string[])[], paint: Paint): string {
  const widths = head.map((title, column) =>
    Math.max(...[title, ...rows.map((row) => row[column] ?? '')].map(width)),
  );
  const isNumber = head.map((_, column) =>
    rows.every((row) => /^[\d,.%–+ ]*$/.test(stripVTControlCharacters(row[column] ?? ''))),
  );
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) => {
        const pad = ' '.repeat((widths[column] ?? 0) - width(cell));
        return isNumber[column] ? pad + cell : cell + pad;
      })
      .join('   ')
      .trimEnd();
  return [paint('dim', line(head)), ...rows.map(line)].map((row) => `  ${row}`).join('\n');
}

/** One name and value per line. */
export function facts(pairs: readonly (readonly [string, string | undefined])[], paint: Paint): string {
  const shown = pairs.filter((pair): pair is readonly [string, string] => pair[1] !== undefined);
  const widest = Math.max(...shown.map(([name]) => name.length));
  return shown
    .map(([name, value]) => `  ${paint('dim', name.padEnd(widest))}   ${harmless(value)}`)
    .join('\n');
}

export const count = (value: number): string => value.toLocaleString('en-US');

/** Elapsed time: `45 s`, `12 min`, `3 h`, `2 d`. */
export function ago(from: Date, now: Date): string {
  const seconds = Math.max(0, Math.round((now.getTime() - from.getTime()) / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 48 * 3600) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}

/** To the second: `2026-11-21 09:30:00 UTC`. */
export const moment = (at: Date | string): string =>
  `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
