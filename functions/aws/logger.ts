import type { MiddlewareObj } from '@middy/core';
import type { Context } from 'aws-lambda';
import { telemetry } from './config.ts';
import {
  CONTEXT_FIELDS,
  type ContextFields,
  type FieldKind,
  type Line,
  LOG_CODES,
  type Log,
} from './log-codes.ts';
import { count, FAILED_INVOCATIONS, publishMetrics } from './metrics.ts';

/*
 * Log fields of an error. Messages of the SDK, parsers and Node quote their input (`Unexpected token 'm', "my
 * secret…"`), so an error is logged by name, codes and stack frames, and by message only when the message is
 * the service's own.
 */

/** Errors whose messages hold only fixed text and the service's identifiers. */
export const OWN_ERRORS = new Set([
  'CheckInProgress',
  'ConfigurationError',
  'Contended',
  'Defect',
  'GateClosed',
  'NotPermitted',
  'NotNotified',
  'RedeliveryInProgress',
  'UnknownTenant',
]);

/** Characters allowed in a logged message. */
const SAFE_MESSAGE = /^[\w .,:;#()/'-]{1,300}$/;
const NAME = /^\$?[\w.#-]{1,80}$/;
/** `at name (file:line:column)`, `at file:line:column`. */
const FRAME = /^ {4}at (?:async )?(?:[\w$.<>[\] ]{1,120} \()?(?:file:\/\/)?[\w@./:+-]{1,300}:\d+:\d+\)?$/;
const MAX_FRAMES = 8;
const MAX_CAUSES = 3;

export interface FailureFields {
  name: string;
  message?: string;
  code?: string;
  /** HTTP status of a dependency's response. */
  status?: number;
  awsRequestId?: string;
  attempts?: number;
  /** Faults that a parser found: kind and attribute. */
  issues?: string[];
  frames?: string[];
  cause?: FailureFields;
}

export function failureFields(error: unknown, depth = 1): FailureFields {
  if (!(error instanceof Error)) return { name: typeof error };
  const { code, cause, $metadata, issues } = error as Error & Record<string, unknown>;
  const { httpStatusCode, requestId, attempts } = Object($metadata) as Record<string, unknown>;
  const frames = extractFrames(error);
  return {
    name: NAME.test(error.name) ? error.name : 'Error',
    ...(OWN_ERRORS.has(error.name) && SAFE_MESSAGE.test(error.message) ? { message: error.message } : {}),
    ...(isName(code) ? { code } : {}),
    ...(typeof httpStatusCode === 'number' ? { status: httpStatusCode } : {}),
    ...(isName(requestId) ? { awsRequestId: requestId } : {}),
    ...(typeof attempts === 'number' ? { attempts } : {}),
    ...(Array.isArray(issues) ? { issues: issues.slice(0, 5).map(describeIssue) } : {}),
    ...(frames.length === 0 ? {} : { frames }),
    ...(cause === undefined || depth === MAX_CAUSES ? {} : { cause: failureFields(cause, depth + 1) }),
  };
}

/** The same as one line of text. */
export function summarizeError(error: unknown): string {
  const { name, message, code, status, issues } = failureFields(error);
  return [name, message, code, status, ...(issues ?? [])].filter((part) => part !== undefined).join(' ');
}

const isName = (value: unknown): value is string => typeof value === 'string' && NAME.test(value);

/** Only the attribute of the schema is the service's name; deeper names can be a caller's. */
function describeIssue(issue: unknown): string {
  const { code, path } = Object(issue) as Record<string, unknown>;
  const [attribute] = Array.isArray(path) ? path : [];
  return [attribute, code].filter(isName).join(' ');
}

/** Stack frames. The message precedes them in the stack and may look like one. */
function extractFrames({ message, stack = '' }: Error): string[] {
  const at = stack.indexOf(message);
  if (at < 0 || stack.slice(0, at).includes('\n')) return [];
  return stack
    .slice(at + message.length)
    .split('\n')
    .filter((line) => FRAME.test(line))
    .slice(0, MAX_FRAMES)
    .map((line) => line.trim().replace(/^at /, ''));
}

/**
 * A defect of the code, or rows that contradict each other. Its message is logged, so it holds identifiers
 * and fixed text alone, and nothing that a caller sent.
 */
export class Defect extends Error {
  override name = 'Defect';
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
) {
  const least = LEVELS.includes(logLevel) ? LEVELS.indexOf(logLevel) : LEVELS.indexOf('INFO');
  let isCold = true;
  let invocation: Fields = {};
  let added: Fields = {};
  const log: Log = (code, fields) => {
    const { level: name, message, fields: declared }: Line = LOG_CODES[code];
    const level = name.toUpperCase();
    if (LEVELS.indexOf(level) < least) return;
    const timestamp = new Date().toISOString();
    const own = formatFields(fields, { ...CONTEXT_FIELDS, ...declared });
    write({ level, message, timestamp, service, ...invocation, ...added, code, ...own });
  };
  return {
    log,
    /** Starts an invocation and clears the fields of the one before. */
    begin({ functionName: function_name, awsRequestId: function_request_id }: Context): void {
      invocation = { cold_start: isCold, function_name, function_request_id };
      added = {};
      isCold = false;
    },
    /** Adds fields to all further lines of the invocation. */
    add(fields: ContextFields): void {
      added = { ...added, ...formatFields(fields, CONTEXT_FIELDS) };
    },
  };
}

export type Logging = ReturnType<typeof logging>;

/** A line of JSON for each log line, as Lambda's log format expects it. */
export const logger = logging(telemetry(), (line) => {
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

/** Replaces a worker's error: Lambda logs the message of a thrown error. */
export class InvocationFailed extends Error {
  override name = 'InvocationFailed';
}

/**
 * Middleware of every worker: starts its log context, publishes metrics, logs an error and rethrows it
 * without its message.
 */
export const invocation = ({ log, begin }: Logging = logger): MiddlewareObj => ({
  before: ({ context }) => begin(context),
  after: () => publishMetrics(),
  onError: (request) => {
    log('INVOCATION_FAILED', { error: request.error });
    count(FAILED_INVOCATIONS);
    publishMetrics();
    request.error = new InvocationFailed(summarizeError(request.error));
  },
});
