import { Logger } from '@aws-lambda-powertools/logger';
import type { Context } from 'aws-lambda';
import { failureFields } from './failure-fields.ts';
import { CONTEXT_FIELDS, type ContextFields, LOG_CODES, type Log } from './log-codes.ts';
import type { FieldKind, Line } from './log-lines/line.ts';

export interface Logging {
  log: Log;
  /** Starts an invocation and clears the fields of the one before. */
  begin(context: Context): void;
  /** Adds fields to all further lines of the invocation. */
  add(fields: ContextFields): void;
}

/** @param printer writes the lines with the function's context */
export function logging(printer: Logger): Logging {
  return {
    log(code, fields) {
      const { level, message, fields: declared }: Line = LOG_CODES[code];
      printer[level](message, { code, ...formatFields(fields, { ...CONTEXT_FIELDS, ...declared }) });
    },
    begin(context) {
      printer.resetKeys();
      printer.addContext(context);
    },
    add(fields) {
      printer.appendKeys(formatFields(fields, CONTEXT_FIELDS));
    },
  };
}

/** Structured logs; name and level from POWERTOOLS_SERVICE_NAME and POWERTOOLS_LOG_LEVEL. */
export const logger: Logging = logging(new Logger());

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
