import { harmless } from './format.ts';
import type { Paint, Style } from './paint.ts';

/** A text of any origin, with its style. */
export type Cell = string | readonly [Style, string];

/** Joins cells that are not empty. Escapes their control characters before it adds colours. */
export const line = (paint: Paint, ...cells: readonly Cell[]): string =>
  cells
    .map((cell) => (typeof cell === 'string' ? ([undefined, cell] as const) : cell))
    .filter(([, text]) => text !== '')
    .map(([style, text]) => (style === undefined ? harmless(text) : paint(style, harmless(text))))
    .join('  ');
