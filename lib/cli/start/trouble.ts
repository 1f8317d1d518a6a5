import { z } from 'zod';
import { harmless } from '../terminal/format.ts';
import type { Paint } from '../terminal/paint.ts';
import type { LogLine } from './log-file.ts';

const Structured = z.object({
  level: z.string(),
  message: z.string(),
  /** The function's short name; its physical one carries the stack's name and a hash. */
  service: z.optional(z.string()),
  error: z.optional(z.unknown()),
});

/**
 * An error as the logger writes it, its message only where that is of the service's own words; other things
 * go by this name too.
 */
const LoggedError = z.object({
  name: z.string(),
  message: z.optional(z.string()),
  code: z.optional(z.string()),
});

/**
 * Of text that is no structured log: what the function runner and the runtime client say when something goes
 * wrong.
 */
const ALARMING = /\b(error|exception|denied|not authorized|timed out|fatal)\b/i;
const MAX_LENGTH = 300;

/**
 * A log line for the screen when it is a warning or an error, else undefined: JSON lines by their level
 * (Powertools' names), other text by its words.
 */
export function renderTrouble(line: LogLine, paint: Paint): string | undefined {
  const parsed = Structured.safeParse(parseJson(line.text));
  if (!parsed.success) {
    return ALARMING.test(line.text)
      ? `${paint('red', 'error')} ${paint('dim', line.source)} ${shorten(line.text)}`
      : undefined;
  }
  const { level, message, service, error } = parsed.data;
  const source = paint('dim', service ?? line.source);
  const { data: logged } = LoggedError.safeParse(error);
  const said = logged?.message ?? logged?.code;
  const detail = logged === undefined ? '' : ` (${logged.name}${said === undefined ? '' : `: ${said}`})`;
  if (level === 'WARN') return `${paint('yellow', 'warn')}  ${source} ${shorten(message + detail)}`;
  if (level === 'ERROR' || level === 'CRITICAL') {
    return `${paint('red', 'error')} ${source} ${shorten(message + detail)}`;
  }
  return undefined;
}

function shorten(text: string): string {
  const line = harmless(text.trim().replaceAll(/\s+/g, ' '));
  return line.length > MAX_LENGTH ? `${line.slice(0, MAX_LENGTH)}…` : line;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
