import { LOG_CODES, type Log, type LogCode } from '../../functions/aws/log-codes.ts';

export interface LogEntry {
  code: LogCode;
  level: (typeof LOG_CODES)[LogCode]['level'];
  fields: Record<string, unknown>;
}

/** A log that keeps its lines. */
export function recordedLog(): Log & { entries: LogEntry[]; trouble(): LogEntry[] } {
  const entries: LogEntry[] = [];
  const log: Log = (code, fields) => {
    const { level } = LOG_CODES[code];
    entries.push({ code, level, fields: { ...fields } });
  };
  return Object.assign(log, {
    entries,
    /** The lines without those of level info and below. */
    trouble: () => entries.filter(({ level }) => level === 'warn' || level === 'error'),
  });
}
