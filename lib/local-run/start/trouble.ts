import { formatTime, harmless } from 'terminal/format.ts';
import type { Paint } from 'terminal/paint.ts';
import { z } from 'zod';
import type { LogLine } from './log-file.ts';

const Structured = z.object({
  level: z.string(),
  message: z.string(),
  /** Short name; the physical one has the stack's name and a hash. */
  service: z.optional(z.string()),
  timestamp: z.optional(z.unknown()),
  error: z.optional(z.unknown()),
});

/** Values of fields that name what a line is about. */
const Id = z.string().regex(/^(?!org_)[a-z]{3}_[0-9a-f]{32}$/);
const OrgId = z.string().regex(/^org_[0-9a-f]{32}$/);

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

const ERROR = { style: 'red', word: 'error' } as const;
/** By the levels that are shown. */
const LABELS = new Map<string, { style: 'red' | 'yellow'; word: string }>([
  ['WARN', { style: 'yellow', word: 'warn' }],
  ['ERROR', ERROR],
]);

/**
 * Renders warnings and errors for the screen, else returns undefined: JSON lines by level, other text
 * by its words.
 */
export function renderTrouble(line: LogLine, paint: Paint): string | undefined {
  const json = parseJson(line.text);
  const parsed = Structured.safeParse(json);
  if (!parsed.success) {
    return ALARMING.test(line.text)
      ? `${paint('red', 'error')} ${paint('dim', line.source)} ${shorten(line.text)}`
      : undefined;
  }
  const { level, message, service, timestamp, error } = parsed.data;
  const label = LABELS.get(level);
  if (label === undefined) return undefined;
  const source = paint('dim', service ?? line.source);
  const { data: logged } = LoggedError.safeParse(error);
  const said = logged?.message ?? logged?.code;
  const detail = logged === undefined ? '' : ` (${logged.name}${said === undefined ? '' : `: ${said}`})`;
  const text = shorten(`${message}${renderSubject(json)}${detail}`);
  const { style, word } = label;
  return `${renderTime(timestamp, paint)}${paint(style, word)} ${' '.repeat(5 - word.length)}${source} ${text}`;
}

/** `: whk_… of org_…`, or an empty text for a line without identifiers. */
function renderSubject(line: unknown): string {
  const values = Object.values(Object(line));
  const ids = [...new Set(values.filter((value) => Id.safeParse(value).success))].join(', ');
  const organization = values.find((value) => OrgId.safeParse(value).success);
  const subject = [ids, organization].filter(Boolean).join(' of ');
  return subject === '' ? '' : `: ${subject}`;
}

function renderTime(timestamp: unknown, paint: Paint): string {
  const time = typeof timestamp === 'string' ? new Date(timestamp) : undefined;
  return time === undefined || Number.isNaN(time.getTime()) ? '' : `${paint('dim', formatTime(time))}  `;
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
