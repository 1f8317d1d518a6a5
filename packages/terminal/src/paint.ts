import { styleText } from 'node:util';

/** Style names of node:util, such as `red` and `bold`. */
export type Style = Parameters<typeof styleText>[0];

/** Colors a text, unless the output has no colors. */
export type Paint = (style: Style, text: string) => string;

/** Colors for `stream`, by NO_COLOR, FORCE_COLOR and whether it is a terminal. */
export function paintFor(stream: NodeJS.WritableStream): Paint {
  return (style, text) => styleText(style, text, { stream });
}

/** For outputs without colors. */
export const plain: Paint = (_style, text) => text;
