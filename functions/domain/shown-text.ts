/*
 * Text that anybody may have written, made fit to be shown among our own: it stays text, keeps to its place and looks like what it is.
 */

/**
 * Without what turns the direction of writing, hides or breaks a line. Joiners stay: languages are written with them. Where nothing that can be seen
 * stays beside them it is empty.
 */
export function inOneLine(text: string): string {
  const line = text
    .toWellFormed()
    .replaceAll(/(?![\u200c\u200d])\p{Cf}/gu, '')
    .replaceAll(/[\p{Cc}\s]+/gu, ' ')
    .trim();
  return /^[\p{Default_Ignorable_Code_Point} ]*$/u.test(line) ? '' : line;
}

/** At most so many UTF-16 code units, none of them half a character, with an ellipsis where something is left out. */
export const shortened = (text: string, max: number): string =>
  text.length <= max
    ? text
    : `${text
        .slice(0, max - 1)
        .replace(/[\ud800-\udbff]$/, '')
        .trimEnd()}…`;

/** Mail programs make links of what looks like an address. A space without width keeps them from it. */
export const unlinked = (text: string): string =>
  text
    .replaceAll(/(?<=[\p{L}\p{N}_-])(?=[.\u3002\uff0e\uff61]\p{L})/gu, '\u200b')
    .replaceAll(/:(?=\/\/)/g, ':\u200b')
    .replaceAll('@', '\u200b@');
