import { BACKGROUND_LINES } from './log-lines/background.ts';
import { DELIVERY_LINES, REQUEST_LINES } from './log-lines/deliveries.ts';
import type { FieldKind, FieldKinds, Line } from './log-lines/line.ts';
import { RECOVERY_LINES } from './log-lines/recovery.ts';

/**
 * Every line that the functions log, by its code: its level, what it means, what an operator does, and which
 * fields it may have. There is no other way to log. `docs/reference/logs.md` is written from it.
 */
export const LOG_CODES = {
  ...REQUEST_LINES,
  ...DELIVERY_LINES,
  ...RECOVERY_LINES,
  ...BACKGROUND_LINES,
} as const satisfies Record<string, Line>;
export type LogCode = keyof typeof LOG_CODES;

/** What lines have besides, from their invocation on or from what they tell of. */
export const CONTEXT_FIELDS = {
  /** Of the API call that everything began with: the root of its `X-Amzn-Trace-Id`, or its request id. */
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

/** Logs a line. A field that its code does not declare does not compile, and is not written. */
export type Log = <C extends LogCode>(code: C, fields: LogFields<C>) => void;
