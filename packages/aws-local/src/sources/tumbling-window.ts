import type { InvocationResult } from '../functions/sandbox.ts';
import type { StreamRecord } from './stream-records.ts';

/** A window of `TumblingWindowInSeconds`, in epoch seconds: the end is not in it. */
export interface Span {
  start: number;
  end: number;
}

/** What Lambda adds to the event of a mapping with a tumbling window. */
export interface WindowProperties {
  window: { start: string; end: string };
  state: unknown;
  shardId: string;
  eventSourceARN: string;
  isFinalInvokeForWindow: boolean;
  isWindowTerminatedEarly: boolean;
}

/**
 * One thing to do with records that were read: give some of them to their window, or close the one that is
 * open.
 */
export type WindowStep = { kind: 'take'; span: Span; records: StreamRecord[] } | { kind: 'close' };

/** Lambda's limit on the state that a window hands on, per shard. */
const STATE_LIMIT_BYTES = 1_048_576;

/**
 * How long after its end a window waits for records that were written before it. Lambda waits for up to two
 * minutes; here there is nothing between the time that a record gets and its place in the stream but one
 * commit of the engine.
 */
const PATIENCE_SECONDS = 1;

/**
 * What to do with records in the order of the stream. A record belongs to the window of its
 * `ApproximateCreationDateTime`, counted from the epoch; one that is older than the open window goes into
 * that, because a window that is over stays over.
 * https://docs.aws.amazon.com/lambda/latest/dg/services-ddb-windows.html
 *
 * @param open the window that the last records went to, if it has not been closed
 */
export function windowSteps(
  open: Span | undefined,
  records: readonly StreamRecord[],
  windowSeconds: number,
): WindowStep[] {
  const steps: WindowStep[] = [];
  let current = open;
  for (const record of records) {
    const own = spanOf(record.dynamodb.ApproximateCreationDateTime, windowSeconds);
    if (current && own.start > current.start) {
      steps.push({ kind: 'close' });
      current = undefined;
    }
    current ??= own;
    const last = steps.at(-1);
    if (last?.kind === 'take') last.records.push(record);
    else steps.push({ kind: 'take', span: current, records: [record] });
  }
  return steps;
}

function spanOf(epochSeconds: number, windowSeconds: number): Span {
  const start = Math.floor(epochSeconds / windowSeconds) * windowSeconds;
  return { start, end: start + windowSeconds };
}

/**
 * Whether a window is over, all of whose records up to `readAt` have been read.
 *
 * @param readAt epoch milliseconds
 */
export function isOver({ end }: Span, readAt: number): boolean {
  return readAt / 1000 >= end + PATIENCE_SECONDS;
}

/** The window in an event, in whole seconds as Lambda writes it: `2020-07-30T17:00:00Z`. */
export function shownSpan({ start, end }: Span): WindowProperties['window'] {
  const iso = (seconds: number) => new Date(seconds * 1000).toISOString().replace('.000Z', 'Z');
  return { start: iso(start), end: iso(end) };
}

/** The outcome of an invocation in a window: an answer without a `state` is a failure of the function. */
export function judgedInWindow(result: InvocationResult): InvocationResult {
  if (result.functionError || stateOf(result) !== undefined) return result;
  const errorMessage = 'The answer has no state, which a mapping with a tumbling window needs';
  return {
    payload: { errorType: 'InvalidTumblingWindowResponse', errorMessage },
    functionError: 'Unhandled',
  };
}

/** The state that an invocation hands on; undefined when it has none. */
export function stateOf({ payload }: InvocationResult): unknown {
  return typeof payload === 'object' && payload !== null && 'state' in payload ? payload.state : undefined;
}

/** Whether a state is more than a window may hand on, so that the window has to be terminated early. */
export function isTooLarge(state: unknown): boolean {
  return Buffer.byteLength(JSON.stringify(state)) > STATE_LIMIT_BYTES;
}
