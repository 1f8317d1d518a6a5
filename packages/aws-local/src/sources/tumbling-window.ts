import type { InvocationResult } from '../functions/sandbox.ts';
import type { StreamRecord } from './stream-records.ts';

/** A window of `TumblingWindowInSeconds` in epoch seconds, without its end. */
export interface Span {
  start: number;
  end: number;
}

/** Properties of an event with a tumbling window. */
export interface WindowProperties {
  window: { start: string; end: string };
  state: unknown;
  shardId: string;
  eventSourceARN: string;
  isFinalInvokeForWindow: boolean;
  isWindowTerminatedEarly: boolean;
}

/** Adds records to their window, or closes the open one. */
export type WindowStep = { kind: 'take'; span: Span; records: StreamRecord[] } | { kind: 'close' };

/** Lambda's limit on a window's state, per shard. */
const STATE_LIMIT_BYTES = 1_048_576;

/**
 * How long a window waits after its end for records written before it. Lambda waits up to two minutes; here
 * only one commit of the engine lies between a record's time and its place in the stream.
 */
const PATIENCE_SECONDS = 1;

/**
 * Assigns records in stream order to windows of their `ApproximateCreationDateTime`, counted from the epoch.
 * A record older than the open window goes into that one, because a closed window stays closed.
 * https://docs.aws.amazon.com/lambda/latest/dg/services-ddb-windows.html
 * @param open window of the last records, if it was not closed
 */
export function windowSteps(
  open: Span | undefined,
  records: readonly StreamRecord[],
  windowSeconds: number,
): WindowStep[] {
  const steps: WindowStep[] = [];
  let current = open;
  for (const record of records) {
    const own = spanAt(record.dynamodb.ApproximateCreationDateTime, windowSeconds);
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

function spanAt(epochSeconds: number, windowSeconds: number): Span {
  const start = Math.floor(epochSeconds / windowSeconds) * windowSeconds;
  return { start, end: start + windowSeconds };
}

/**
 * Whether a window has ended, if its records up to `readAt` have been read.
 * @param readAt epoch milliseconds
 */
export function isOver({ end }: Span, readAt: number): boolean {
  return readAt / 1000 >= end + PATIENCE_SECONDS;
}

/** The window in Lambda's format, in whole seconds: `2020-07-30T17:00:00Z`. */
export function shownSpan({ start, end }: Span): WindowProperties['window'] {
  const iso = (seconds: number) => new Date(seconds * 1000).toISOString().replace('.000Z', 'Z');
  return { start: iso(start), end: iso(end) };
}

/** Treats a response without a `state` as a failure of the function. */
export function judgedInWindow(result: InvocationResult): InvocationResult {
  if (result.functionError || stateOf(result) !== undefined) return result;
  const errorMessage = 'The answer has no state, which a mapping with a tumbling window needs';
  return {
    payload: { errorType: 'InvalidTumblingWindowResponse', errorMessage },
    functionError: 'Unhandled',
  };
}

/** State for the next invocation, if any. */
export function stateOf({ payload }: InvocationResult): unknown {
  return typeof payload === 'object' && payload !== null && 'state' in payload ? payload.state : undefined;
}

/** Whether a state exceeds the limit, so that the window must end early. */
export function isTooLarge(state: unknown): boolean {
  return Buffer.byteLength(JSON.stringify(state)) > STATE_LIMIT_BYTES;
}
