import type { Context } from 'aws-lambda';
import { telemetry } from './config.ts';
import { failureFields } from './failure-fields.ts';
import {
  CONTEXT_FIELDS,
  type ContextFields,
  type FieldKind,
  type Line,
  LOG_CODES,
  type Log,
} from './log-codes.ts';

export interface Logging {
  log: Log;
  /** Starts an invocation and clears the fields of the one before. */
  begin(context: Context): void;
  /** Adds fields to all further lines of the invocation. */
  add(fields: ContextFields): void;
}

type Fields = Readonly<Record<string, unknown>>;

/** By importance; a function logs from its level on. */
const LEVELS = ['DEBUG', 'INFO', 'WARN', 'ERROR', 'SILENT'];

/**
 * @param logLevel least level that is logged: DEBUG, INFO, WARN, ERROR, or SILENT for none; INFO if unknown
 * @param functionName in its stage
 * @param write takes a line's fields
 */
export function logging(
  { logLevel, functionName: service }: { logLevel: string; functionName: string },
  write: (line: Fields) => void,
): Logging {
  const least = LEVELS.includes(logLevel) ? LEVELS.indexOf(logLevel) : LEVELS.indexOf('INFO');
  let isCold = true;
  let invocation: Fields = {};
  let added: Fields = {};
  return {
    log(code, fields) {
      const { level: name, message, fields: declared }: Line = LOG_CODES[code];
      const level = name.toUpperCase();
      if (LEVELS.indexOf(level) < least) return;
      const timestamp = new Date().toISOString();
      const own = formatFields(fields, { ...CONTEXT_FIELDS, ...declared });
      write({ level, message, timestamp, service, ...invocation, ...added, code, ...own });
    },
    begin({ functionName: function_name, awsRequestId: function_request_id }) {
      invocation = { cold_start: isCold, function_name, function_request_id };
      added = {};
      isCold = false;
    },
    add(fields) {
      added = { ...added, ...formatFields(fields, CONTEXT_FIELDS) };
    },
  };
}

/** A line of JSON for each log line, as Lambda's log format expects it. */
export const logger: Logging = logging(telemetry(), (line) => {
  process.stdout.write(`${JSON.stringify(line)}\n`);
});

/** Replaces a value that is not of its field's kind: the value may be secret. */
const WITHHELD = '[withheld]';
const ID = /^[\w#./:=+-]{1,300}$/;
/** Prefixes of credentials: API keys, visitor tokens, signing secrets, session tokens. */
const CREDENTIAL = /^(ck_|cvt_|whsec_|eyJ)/;
const WORDS = /^[\w .,:()/'-]{1,160}$/;

const FORMATTERS: Readonly<Record<FieldKind, (value: unknown) => unknown>> = {
  id: (value) => (typeof value === 'string' && ID.test(value) && !CREDENTIAL.test(value) ? value : WITHHELD),
  words: (value) => (typeof value === 'string' && WORDS.test(value) ? value : WITHHELD),
  count: (value) => (typeof value === 'number' ? value : WITHHELD),
  flag: (value) => (typeof value === 'boolean' ? value : WITHHELD),
  counts: (value) =>
    Object.fromEntries(
      Object.entries(Object(value)).filter(
        ([name, count]) => /^\w+$/.test(name) && typeof count === 'number',
      ),
    ),
  failure: failureFields,
};

/** Drops undeclared and absent fields. */
function formatFields(
  fields: object,
  declared: Readonly<Record<string, FieldKind>>,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => {
      const kind = Object.hasOwn(declared, name) ? declared[name] : undefined;
      return kind === undefined || value === undefined ? [] : [[name, FORMATTERS[kind](value)]];
    }),
  );
}
