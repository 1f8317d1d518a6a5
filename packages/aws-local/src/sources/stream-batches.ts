import { describeEngineError } from '../engine-errors.ts';
import { EVENT_BYTES } from '../functions/runtime.ts';
import type { InvocationResult } from '../functions/sandbox.ts';
import { type Batch, type BatchPolicy, judge, partByAge } from './batch.ts';
import { chunksBySize } from './chunks.ts';
import type { DiscardedBatch } from './failure-destination.ts';
import { backoff, pause } from './pause.ts';
import { intoLanes, type StreamRecord } from './stream-records.ts';
import type { WindowProperties } from './tumbling-window.ts';

/** Room for the event around the records. */
const ENVELOPE_BYTES = 4096;

export interface StreamEvent extends Partial<WindowProperties> {
  Records: readonly StreamRecord[];
}

export type Discarded = Pick<DiscardedBatch, 'records' | 'condition' | 'invocations' | 'result'>;

export interface StreamBatchesOptions {
  batchSize: number;
  /** `ParallelizationFactor`: concurrent lanes. */
  lanes: number;
  policy: BatchPolicy;
  invoke: (event: StreamEvent) => Promise<InvocationResult>;
  /** Sends records that the policy gives up to the failure destination. */
  discard: (discarded: Discarded) => Promise<void>;
  log: (text: string) => void;
}

/**
 * Processes the records of one read until the function succeeds or the policy discards them.
 * @returns false when the signal came first, so that the records must be read again
 */
export async function processRecords(
  records: readonly StreamRecord[],
  options: StreamBatchesOptions,
  signal: AbortSignal,
): Promise<boolean> {
  const lanes = intoLanes(records, options.lanes);
  const finished = await Promise.all(lanes.map((lane) => processLane(lane, options, signal)));
  return finished.every(Boolean);
}

async function processLane(
  records: readonly StreamRecord[],
  options: StreamBatchesOptions,
  signal: AbortSignal,
): Promise<boolean> {
  const queue = splitIntoBatches(records, options.batchSize).map(
    (chunk): Batch => ({ records: chunk, failures: 0 }),
  );
  for (let batch = queue.shift(); batch; batch = queue.shift()) {
    if (signal.aborted) return false;
    queue.unshift(...(await processBatch(batch, options, signal)));
  }
  return !signal.aborted;
}

/** Invokes the function once; returns the batches to process next. */
async function processBatch(
  batch: Batch,
  options: StreamBatchesOptions,
  signal: AbortSignal,
): Promise<Batch[]> {
  const { policy, log } = options;
  const { expired, current } = partByAge(batch.records, policy, Date.now());
  if (expired.length > 0) {
    const gone = { records: expired, condition: 'RecordAgeExceeded', invocations: batch.failures } as const;
    await discardUntilTaken(gone, options, signal);
    return current.length > 0 ? [{ records: current, failures: batch.failures }] : [];
  }
  const result = await options.invoke({ Records: current });
  if (signal.aborted && result.functionError) return [batch];
  const verdict = judge(batch, result, policy);
  if (verdict.kind === 'done') return [];
  if (result.functionError) log(`batch of ${current.length} failed: ${JSON.stringify(result.payload)}`);
  if (verdict.kind === 'discard') {
    const { condition } = verdict;
    await discardUntilTaken(
      { records: current, condition, invocations: batch.failures + 1, result },
      options,
      signal,
    );
    return [];
  }
  await pause(backoff(verdict.batches[0]?.failures ?? 0), signal);
  return verdict.batches;
}

/** Retries: a destination that is down must not lose discarded records. */
async function discardUntilTaken(
  discarded: Discarded,
  { discard, log }: StreamBatchesOptions,
  signal: AbortSignal,
): Promise<void> {
  for (let failures = 1; !signal.aborted; failures += 1) {
    try {
      await discard(discarded);
      return;
    } catch (error) {
      log(`failure destination: ${describeEngineError(error)}`);
      await pause(backoff(failures), signal);
    }
  }
}

/** A batch also ends where the event would exceed Lambda's limit (Developer Guide, Batching behavior). */
const splitIntoBatches = (records: readonly StreamRecord[], count: number): StreamRecord[][] =>
  chunksBySize(records, (record) => Buffer.byteLength(JSON.stringify(record)) + 1, {
    count,
    bytes: EVENT_BYTES - ENVELOPE_BYTES,
  });
