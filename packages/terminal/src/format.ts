/** Formats a duration: `8 ms`, `420 ms`, `4.2 s`, `1 min 20 s`. */
export function formatDuration(milliseconds: number): string {
  const rounded = Math.round(milliseconds);
  if (rounded < 1000) return `${rounded} ms`;
  if (rounded < 59_950) return `${(milliseconds / 1000).toFixed(1)} s`;
  const seconds = Math.round(milliseconds / 1000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** Local time to the millisecond: `14:03:22.104`. */
export function formatTime(date: Date): string {
  const part = (value: number, digits: number) => String(value).padStart(digits, '0');
  const clock = [date.getHours(), date.getMinutes(), date.getSeconds()].map((value) => part(value, 2));
  return `${clock.join(':')}.${part(date.getMilliseconds(), 3)}`;
}

export function indent(text: string, spaces: number): string {
  return text.replaceAll(/^/gm, ' '.repeat(spaces));
}

/**
 * Characters that control a terminal or the direction of text, or that are invisible (Unicode, Cc, Cf, Zl and
 * Zp); not line feeds, nor the joiners of emoji and of several scripts.
 */
const CONTROLS = /[^\P{Cc}\n]|[^\P{Cf}\u200c\u200d]|[\u2028\u2029]/gu;
const ESCAPE = String.fromCharCode(27);
const COLOURS = new RegExp(`(${ESCAPE}\\[[\\d;]*m)`);

/** Escapes control characters of external text as JSON does, so that JSON stays the same value. */
export const harmless = (text: string): string => text.replaceAll(CONTROLS, escapeUnits);

/** As `harmless`, but keeps colours: for output whose parts were made harmless before they were painted. */
export const harmlessOutput = (text: string): string =>
  text
    .split(COLOURS)
    .map((part, index) => (index % 2 === 1 ? part : harmless(part)))
    .join('');

const escapeUnits = (character: string): string =>
  character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');
