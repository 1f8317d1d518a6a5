import type { Log } from '../../functions/aws/log-codes.ts';
import type { PromiseName } from './promises.ts';

/** Errors that no injected fault causes. */
const DEFECT = /^((Type|Reference|Range|Syntax)Error|Defect):/;
/** A stored item that does not match its schema, in the form of a zod error. */
const UNREADABLE = /^\[\s+\{\s+"(?:expected|code|origin|values)"/;

/**
 * The promise that a failure breaks; undefined for a failure that injected faults may cause.
 * @param reason an error, or its text
 */
export function brokenBy(reason: unknown): PromiseName | undefined {
  if (DEFECT.test(String(reason))) return 'no defect';
  return UNREADABLE.test(String(reason)) ? 'no defect' : undefined;
}

/** A log that tells each line. */
export function logTo(say: (line: string, fields: Readonly<Record<string, unknown>>) => void): Log {
  const log = (line: string, fields: object) => say(line, { ...fields });
  return Object.assign(log, { debug: log, info: log, warn: log, error: log });
}
