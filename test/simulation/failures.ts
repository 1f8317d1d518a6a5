import type { Log } from '../../functions/platform/log-codes.ts';
import type { PromiseName } from './promises.ts';

/** What no interference of the simulation looks like. */
const DEFECT = /^((Type|Reference|Range|Syntax)Error|Defect):/;
/** What was stored is not what its schema says: how zod tells that. */
const UNREADABLE = /^\[\s+\{\s+"(?:expected|code|origin|values)"/;

/**
 * The promise that a failure breaks by itself; undefined when failing so is no more than what may happen.
 * @param reason an error, or its text
 */
export function brokenBy(reason: unknown): PromiseName | undefined {
  if (DEFECT.test(String(reason))) return 'no defect';
  return UNREADABLE.test(String(reason)) ? 'each reads the other' : undefined;
}

/**
 * A log for the engine of any version: of those that name a line by its code, and of those before, which had
 * its level.
 */
export function logTo(say: (line: string, fields: Readonly<Record<string, unknown>>) => void): Log {
  const log = (line: string, fields: object) => say(line, { ...fields });
  return Object.assign(log, { debug: log, info: log, warn: log, error: log });
}
