import type { InvocationResult } from '../functions/sandbox.ts';
import { backoff, pause } from './pause.ts';
import type { Consumer } from './shard.ts';
import { processRecords, type StreamBatchesOptions, type StreamEvent } from './stream-batches.ts';
import type { StreamRecord } from './stream-records.ts';
import {
  isOver,
  isTooLarge,
  judgedInWindow,
  type Span,
  shownSpan,
  stateOf,
  type WindowProperties,
  windowSteps,
} from './tumbling-window.ts';

export interface WindowedOptions extends Omit<StreamBatchesOptions, 'lanes'> {
  windowSeconds: number;
  shardId: string;
  streamArn: string;
  /** Stores where to resume after a crash. */
  checkpoint: (position: string) => void;
}

interface OpenWindow {
  span: Span;
  state: unknown;
}

/**
 * Passes a shard's records to the function by window. The checkpoint moves when a window closes: a crash
 * repeats all of the open window with a fresh state, so that no state is lost.
 */
export function windowedConsumer(options: WindowedOptions, signal: AbortSignal): Consumer {
  const { windowSeconds, checkpoint } = options;
  let open: OpenWindow | undefined;
  let lastTaken: string | undefined;

  async function aggregate(records: readonly StreamRecord[], window: OpenWindow): Promise<boolean> {
    const invoke = async ({ Records }: StreamEvent): Promise<InvocationResult> => {
      const result = judgedInWindow(await options.invoke(createEvent(Records, window, options)));
      if (!result.functionError) window.state = stateOf(result);
      return result;
    };
    if (!(await processRecords(records, { ...options, lanes: 1, invoke }, signal))) return false;
    if (!isTooLarge(window.state)) return true;
    if (!(await finish(window, { isWindowTerminatedEarly: true }, options, signal))) return false;
    window.state = {};
    return true;
  }

  async function close(): Promise<boolean> {
    if (!open) return true;
    if (!(await finish(open, { isFinalInvokeForWindow: true }, options, signal))) return false;
    open = undefined;
    if (lastTaken !== undefined) checkpoint(lastTaken);
    return true;
  }

  return {
    async take(records, position) {
      for (const step of windowSteps(open?.span, records, windowSeconds)) {
        if (step.kind === 'close') {
          if (!(await close())) return false;
        } else {
          open ??= { span: step.span, state: {} };
          if (!(await aggregate(step.records, open))) return false;
          lastTaken = step.records.at(-1)?.dynamodb.SequenceNumber;
        }
      }
      lastTaken = position;
      if (!open) checkpoint(position);
      return true;
    },
    rest: async (isClosed, askedAt) => (open && (isClosed || isOver(open.span, askedAt)) ? close() : true),
  };
}

/** Last invocation of a window, or of one whose state grew too large. Retried until it succeeds. */
async function finish(
  window: OpenWindow,
  flags: Partial<WindowProperties>,
  options: WindowedOptions,
  signal: AbortSignal,
): Promise<boolean> {
  for (let failures = 0; !signal.aborted; failures += 1) {
    await pause(backoff(failures), signal);
    const result = judgedInWindow(await options.invoke({ ...createEvent([], window, options), ...flags }));
    if (!result.functionError) return true;
    if (!signal.aborted) options.log(`end of a window failed: ${JSON.stringify(result.payload)}`);
  }
  return false;
}

function createEvent(
  Records: readonly StreamRecord[],
  { span, state }: OpenWindow,
  { shardId, streamArn }: WindowedOptions,
): StreamEvent & WindowProperties {
  return {
    Records,
    window: shownSpan(span),
    state,
    shardId,
    eventSourceARN: streamArn,
    isFinalInvokeForWindow: false,
    isWindowTerminatedEarly: false,
  };
}
