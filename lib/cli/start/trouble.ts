import { z } from 'zod';
import { harmless } from '../terminal/format.ts';
import type { Paint } from '../terminal/paint.ts';
import type { LogLine } from './log-file.ts';

const Structured = z.object({
  level: z.string(),
  message: z.string(),
  /** Short name; the physical one has the stack's name and a hash. */
  service: z.optional(z.string()),
  error: z.optional(z.unknown()),
});

/**
 * An error in the logger's format, with its message only if that is the service's own; other values use this
 * key too.
 */
const LoggedError = z.object({
  name: z.string(),
  message: z.optional(z.string()),
  code: z.optional(z.string()),
});

/** Unstructured text by the function runner and the runtime client about problems. */
const ALARMING = /\b(error|exception|denied|not authorized|timed out|fatal)\b/i;
const MAX_LENGTH = 300;

/**
 * Renders warnings and errors for the screen, else returns undefined: JSON lines by level (Powertools'
 * names), other text by its words.
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
