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

/** Escapes control characters of external text, which could control the terminal. */
export function harmless(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, (character) =>
    character === '\n' ? character : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
