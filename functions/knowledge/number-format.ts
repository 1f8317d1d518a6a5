/** What a number format (ECMA-376, 18.8.31) shows of a number; undefined for the number itself. */
export type DateFormat = 'date' | 'time' | 'hours' | 'minutes' | 'seconds' | undefined;

/**
 * Formats that workbooks need not define: 14 to 22 and 45 to 47 everywhere, 27 to 36 and 50 to 58 in East
 * Asian and 71 to 81 in Thai programs (ECMA-376, 18.8.30). Which of the latter are times depends on the
 * language, and {@link formatSerial} shows a time alone as such.
 */
export function findBuiltInFormat(id: number): DateFormat {
  if (id === 46) return 'hours';
  if ((id >= 18 && id <= 21) || id === 45 || id === 47) return 'time';
  const ranges = [
    [14, 22],
    [27, 36],
    [50, 58],
    [71, 81],
  ] as const;
  return ranges.some(([first, last]) => id >= first && id <= last) ? 'date' : undefined;
}

/** Text in quotation marks, escaped, skipped or repeated characters, and the name of the usual format. */
const LITERALS = /"[^"]*"?|\\.|[_*].|general/gi;

/** Characters of a format that Excel accepts. More would make the expressions slow. */
const MAX_LENGTH = 255;

/** Parses the section of a format that is for positive numbers. */
export function parseFormat(code: string): DateFormat {
  const [section = ''] = code.slice(0, MAX_LENGTH).replace(LITERALS, '').split(';');
  const elapsed = /\[([hms])+\]/i.exec(section)?.[1]?.toLowerCase();
  if (elapsed !== undefined) return elapsed === 'h' ? 'hours' : elapsed === 'm' ? 'minutes' : 'seconds';
  // Brackets hold colours, conditions and languages. An E before a sign is an exponent, and an era elsewhere.
  const letters = section.replace(/\[[^\]]*\]|e[+-]/gi, '');
  if (/[ydge]/i.test(letters)) return 'date';
  if (/[hs]/i.test(letters)) return 'time';
  return /m/i.test(letters) ? 'date' : undefined;
}

const DAY = 86_400;
/** Days from 1899-12-30, from which serial numbers count after February 1900, to 1970-01-01. */
const EPOCH = 25_569;
/** Days from 1899-12-30 to 1904-01-01. */
const DAYS_TO_1904 = 1462;
/** 9999-12-31. */
const LAST_DAY = 2_958_465;

/**
 * Formats a serial number of days as a date (`2024-01-31`), with its time unless that is midnight, as a time
 * of day (`09:00`), or as a duration (`36:00`). Seconds are left out where they are 0.
 * @returns undefined for a number that is no date
 */
export function formatSerial(serial: number, format: DateFormat, is1904: boolean): string | undefined {
  if (format === undefined || !Number.isFinite(serial)) return undefined;
  const total = Math.round(serial * DAY);
  if (!Number.isSafeInteger(total)) return undefined;
  if (format !== 'date' && format !== 'time') return formatElapsed(total, format);

  const day = Math.floor(total / DAY);
  const time = formatTime(total - day * DAY);
  if (format === 'time') return time;
  // Day 0 stands for a time alone, in a format that has both.
  if (day === 0 && !(is1904 && time === MIDNIGHT)) return time;
  const from1900 = is1904 ? day + DAYS_TO_1904 : day;
  if (from1900 < 0 || from1900 > LAST_DAY) return undefined;
  // Programs count 29 February 1900, a day that did not exist.
  const days = from1900 < 60 ? from1900 + 1 : from1900;
  const date = new Date((days - EPOCH) * DAY * 1000).toISOString().slice(0, 10);
  return time === MIDNIGHT ? date : `${date} ${time}`;
}

const MIDNIGHT = '00:00';

const pad = (number: number): string => String(number).padStart(2, '0');

function formatTime(seconds: number): string {
  const rest = seconds % 60;
  const minutes = `${pad(Math.floor(seconds / 3600))}:${pad(Math.floor(seconds / 60) % 60)}`;
  return rest === 0 ? minutes : `${minutes}:${pad(rest)}`;
}

function formatElapsed(total: number, unit: 'hours' | 'minutes' | 'seconds'): string {
  const sign = total < 0 ? '-' : '';
  const seconds = Math.abs(total);
  if (unit === 'seconds') return `${sign}${seconds}`;
  if (unit === 'hours') return sign + formatTime(seconds);
  return `${sign}${pad(Math.floor(seconds / 60))}:${pad(seconds % 60)}`;
}

const ISO = /^(?:(\d{4,}-\d\d-\d\d)T?)?(?:T?(\d\d:\d\d)(?::(\d\d)(?:[.,]\d+)?)?)?(?:Z|[+-]\d\d:?\d\d)?$/;

/** Formats a date or time of ISO 8601 as {@link formatSerial} does; other text remains as it is. */
export function formatIsoDate(text: string): string {
  const [, date, minutes, seconds = '00'] = ISO.exec(text) ?? [];
  if (date === undefined && minutes === undefined) return text;
  const time = minutes === undefined || seconds === '00' ? minutes : `${minutes}:${seconds}`;
  if (date === undefined) return time ?? text;
  return time === undefined || time === MIDNIGHT ? date : `${date} ${time}`;
}
