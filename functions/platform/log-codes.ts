import { BACKGROUND_LINES } from './log-lines/background.ts';
import { DELIVERY_LINES, REQUEST_LINES } from './log-lines/deliveries.ts';
import type { FieldKind, FieldKinds, Line } from './log-lines/line.ts';
import { RECOVERY_LINES } from './log-lines/recovery.ts';

/**
 * All log lines by code: level, meaning, what an operator does, and fields. There is no other way to log.
 * `docs/reference/logs.md` is generated from it.
 */
export const LOG_CODES = {
  ...REQUEST_LINES,
  ...DELIVERY_LINES,
  ...RECOVERY_LINES,
  ...BACKGROUND_LINES,
} as const satisfies Record<string, Line>;
export type LogCode = keyof typeof LOG_CODES;

/** Fields of any line, set for an invocation or a part of it. */
export const CONTEXT_FIELDS = {
  /** Trace of the API call that caused it: the root of `X-Amzn-Trace-Id`, or the request id. */
  traceId: 'id',
  requestId: 'id',
  route: 'id',
  orgId: 'id',
  keyId: 'id',
  userId: 'id',
  conversationId: 'id',
} as const satisfies Record<string, FieldKind>;

type Of<Fields extends Readonly<Record<string, FieldKind>>> = {
  readonly [F in keyof Fields]?: FieldKinds[Fields[F]] | undefined;
};
export type ContextFields = Of<typeof CONTEXT_FIELDS>;
type LogFields<C extends LogCode> = Of<(typeof LOG_CODES)[C]['fields']> & Pick<ContextFields, 'traceId'>;

/** Logs a line. Undeclared fields do not compile and are not written. */
export type Log = <C extends LogCode>(code: C, fields: LogFields<C>) => void;
