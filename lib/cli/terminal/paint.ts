import { styleText } from 'node:util';

/** Names of node:util's styles, such as `red` and `bold`. */
type Style = Parameters<typeof styleText>[0];

/** Colours a text for one output: as it is where the output has no colours. */
export type Paint = (style: Style, text: string) => string;

/** For `stream`, as NO_COLOR, FORCE_COLOR and its being a terminal say. */
export function paintFor(stream: NodeJS.WritableStream): Paint {
  return (style, text) => styleText(style, text, { stream });
}

/** For outputs without colours. */
export const plain: Paint = (_style, text) => text;
