import { LOG_CODES, type Log, type LogCode } from '../../functions/platform/log-codes.ts';

export interface LogEntry {
  code: LogCode;
  level: (typeof LOG_CODES)[LogCode]['level'];
  fields: Record<string, unknown>;
}

/** A log that keeps what it is told. */
export function recordedLog(): Log & { entries: LogEntry[]; trouble(): LogEntry[] } {
  const entries: LogEntry[] = [];
  const log: Log = (code, fields) => {
    const { level } = LOG_CODES[code];
    entries.push({ code, level, fields: { ...fields } });
  };
  return Object.assign(log, {
    entries,
    /** Without what is told of what goes well. */
    trouble: () => entries.filter(({ level }) => level === 'warn' || level === 'error'),
  });
}
