import type { Log } from '../../functions/engine/log.ts';

export interface LogEntry {
  level: keyof Log;
  message: string;
  fields: Record<string, unknown>;
}

/** A log that keeps what it is told. */
export function recordedLog(): Log & { entries: LogEntry[] } {
  const entries: LogEntry[] = [];
  const record = (level: keyof Log) => (message: string, fields: Record<string, unknown>) =>
    void entries.push({ level, message, fields });
  return {
    entries,
    debug: record('debug'),
    info: record('info'),
    warn: record('warn'),
    error: record('error'),
  };
}
