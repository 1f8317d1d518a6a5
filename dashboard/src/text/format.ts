const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

export type Format = ReturnType<typeof formatIn>;

/** Numbers and times as a language writes them, times in the reader's own zone. */
export function formatIn(language: string) {
  const number = new Intl.NumberFormat(language);
  const percent = new Intl.NumberFormat(language, { style: 'percent', maximumFractionDigits: 1 });
  const moment = new Intl.DateTimeFormat(language, {
    ...({ year: 'numeric', month: 'short', day: 'numeric' } as const),
    ...({ hour: 'numeric', minute: '2-digit', second: '2-digit', timeZoneName: 'short' } as const),
  });
  const short = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'short' });
  const brief = new Intl.DateTimeFormat(language, {
    day: 'numeric',
    month: 'short',
    hour: 'numeric',
    minute: '2-digit',
  });
  const month = new Intl.DateTimeFormat(language, { year: 'numeric', month: 'long', timeZone: 'UTC' });
  const shortMonth = new Intl.DateTimeFormat(language, { month: 'short', timeZone: 'UTC' });
  const relative = new Intl.RelativeTimeFormat(language, { numeric: 'auto' });
  const seconds = new Intl.NumberFormat(language, {
    style: 'unit',
    unit: 'second',
    maximumFractionDigits: 2,
  });
  const milliseconds = new Intl.NumberFormat(language, { style: 'unit', unit: 'millisecond' });
  const long = longDurationIn(language);
  return {
    number: (value: number): string => number.format(value),
    /** @param share 0 to 1 */
    percent: (share: number): string => percent.format(share),
    /** Date and time, to the second, with the zone. */
    moment: (iso: string): string => moment.format(new Date(iso)),
    /** Date and time of day, to the minute. */
    short: (iso: string): string => short.format(new Date(iso)),
    /** As `short`, without the year, where there is little room. */
    brief: (iso: string): string => brief.format(new Date(iso)),
    month: (yearAndMonth: string): string => month.format(new Date(`${yearAndMonth}-01T00:00:00Z`)),
    shortMonth: (yearAndMonth: string): string => shortMonth.format(new Date(`${yearAndMonth}-01T00:00:00Z`)),
    /** "3 minutes ago", "in 2 hours". */
    relative: (iso: string, now: number): string => relativeTo(relative, Date.parse(iso) - now),
    /** To the second from a minute on, shorter ones to two decimals, or in milliseconds. */
    duration(ms: number): string {
      if (ms >= MINUTE) return long(ms);
      return ms < SECOND ? milliseconds.format(Math.round(ms)) : seconds.format(ms / SECOND);
    },
  };
}

/** Hours, minutes and seconds, without those of which there are none. */
function longDurationIn(language: string): (ms: number) => string {
  const units = (['hour', 'minute', 'second'] as const).map(
    (unit) => new Intl.NumberFormat(language, { style: 'unit', unit }),
  );
  return (ms) => {
    const seconds = Math.round(ms / SECOND);
    const counts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
    return units.flatMap((unit, at) => (counts[at] ? [unit.format(counts[at])] : [])).join(' ');
  };
}

/** In the largest unit of which there is one. */
function relativeTo(format: Intl.RelativeTimeFormat, ms: number): string {
  const size = Math.abs(ms);
  if (size < 5 * SECOND) return format.format(0, 'second');
  if (size < MINUTE) return format.format(Math.round(ms / SECOND), 'second');
  if (size < HOUR) return format.format(Math.round(ms / MINUTE), 'minute');
  if (size < DAY) return format.format(Math.round(ms / HOUR), 'hour');
  return format.format(Math.round(ms / DAY), 'day');
}

const MINUTE_MS = 60_000;

/**
 * A time as a field for a local time has it: without a zone, to the minute.
 * @param at milliseconds since the epoch
 */
export function localTime(at: number): string {
  const date = new Date(at);
  return new Date(date.getTime() - date.getTimezoneOffset() * MINUTE_MS).toISOString().slice(0, 16);
}
