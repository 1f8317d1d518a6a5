const MINUTE_MS = 60_000;

/**
 * A time as a field for a local time has it: without a zone, to the minute.
 * @param at milliseconds since the epoch
 */
export function localTime(at: number): string {
  const date = new Date(at);
  return new Date(date.getTime() - date.getTimezoneOffset() * MINUTE_MS).toISOString().slice(0, 16);
}
