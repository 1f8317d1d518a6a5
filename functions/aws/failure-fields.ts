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
