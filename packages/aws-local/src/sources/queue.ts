import { describeEngineError } from '../engine-errors.ts';
import { type Lineage, mergeLineages, parseLineage } from '../functions/lineage.ts';
import type { InvocationResult } from '../functions/sandbox.ts';
import type { Filter } from './filter.ts';
import { pause } from './pause.ts';
import { doneMessages, passesFilter, type QueueRecord, toQueueRecord } from './queue-records.ts';
import type { Queues } from './queues.ts';
import type { Source } from './source.ts';

/** SQS's limit on the messages of one call. */
const CALL_LIMIT = 10;
const GATHER_POLL_MS = 50;
/** Interval of checks whether the function has capacity again. */
const SLOT_CHECK_MS = 50;
const ERROR_PAUSE_MS = 500;

export interface QueueSourceOptions {
  queueUrl: string;
  queueArn: string;
  batchSize: number;
  batchingWindowSeconds: number;
  /** Current maximum of concurrent invocations. */
  concurrency: () => number;
  reportsItemFailures: boolean;
  passes: Filter;
  queues: Queues;
  invoke: (event: { Records: readonly QueueRecord[] }, lineage: Lineage) => Promise<InvocationResult>;
  /** Whether Lambda would stop the function instead of invoking it with a message of this lineage. */
  isLoop: (lineage: Lineage) => boolean;
  /** Handles a looping message instead of the function. */
  discardLoop: (record: QueueRecord) => Promise<void>;
  log: (text: string) => void;
}

/**
 * Invokes a function from a queue, as an event source mapping does. One poller for all slots: competing
 * pollers cost calls and, in the embedded engine, return empty as soon as one gets the messages.
 */
export function startQueueSource(options: QueueSourceOptions): Source {
  const stopping = new AbortController();
  const done = pollQueue(options, stopping.signal);
  return {
    stop() {
      stopping.abort();
      return done;
    },
  };
}

async function pollQueue(options: QueueSourceOptions, signal: AbortSignal): Promise<void> {
  const running = new Set<Promise<void>>();
  while (!signal.aborted) {
    // Messages that wait here for a sandbox would use up their visibility timeout.
    while (!signal.aborted && running.size >= options.concurrency())
      await Promise.race([...running, pause(SLOT_CHECK_MS, signal)]);
    if (signal.aborted) break;
    const records = await gather(options, signal);
    if (records.length === 0) continue;
    if (signal.aborted) await giveBack(records, options);
    else {
      const work = handle(records, options).finally(() => running.delete(work));
      running.add(work);
    }
  }
  await Promise.all(running);
}

/** Receives a batch: one poll, or as many as fit into the batching window. */
async function gather(options: QueueSourceOptions, signal: AbortSignal): Promise<QueueRecord[]> {
  const { queues, batchSize, batchingWindowSeconds } = options;
  const records = await receive(options, batchSize, queues.longestPollSeconds, signal);
  const due = Date.now() + batchingWindowSeconds * 1000;
  while (records.length > 0 && records.length < batchSize && Date.now() < due && !signal.aborted) {
    const more = await receive(options, batchSize - records.length, 0, signal);
    if (more.length === 0) await pause(GATHER_POLL_MS, signal);
    records.push(...more);
  }
  return records;
}

async function receive(
  { queues, queueUrl, queueArn, log }: QueueSourceOptions,
  wanted: number,
  waitSeconds: number,
  signal: AbortSignal,
): Promise<QueueRecord[]> {
  try {
    const poll = { limit: Math.min(CALL_LIMIT, wanted), waitSeconds, signal };
    return (await queues.receive(queueUrl, poll)).map((message) => toQueueRecord(message, queueArn));
  } catch (error) {
    log(`receiving failed: ${describeEngineError(error)}`);
    await pause(ERROR_PAUSE_MS, signal);
    return [];
  }
}

async function handle(records: readonly QueueRecord[], options: QueueSourceOptions): Promise<void> {
  const wanted = records.filter((record) => passesFilter(record, options.passes));
  const filteredOut = records.filter((record) => !wanted.includes(record));
  const loops = wanted.filter((record) => options.isLoop(readLineage(record)));
  const stopped = (await Promise.all(loops.map((record) => stopLoop(record, options)))).flat();
  const invoked = wanted.filter((record) => !loops.includes(record));
  const done = invoked.length > 0 ? await invoke(invoked, options) : [];
  await remove([...filteredOut, ...stopped, ...done], options);
}

const readLineage = ({ attributes }: QueueRecord): Lineage => parseLineage(attributes.AWSTraceHeader);

/** @returns the message if it was discarded; else it becomes visible again */
async function stopLoop(
  record: QueueRecord,
  { discardLoop, log }: QueueSourceOptions,
): Promise<QueueRecord[]> {
  try {
    await discardLoop(record);
    return [record];
  } catch (error) {
    log(`a message of a recursive loop was not moved: ${describeEngineError(error)}`);
    return [];
  }
}

async function invoke(
  records: readonly QueueRecord[],
  options: QueueSourceOptions,
): Promise<readonly QueueRecord[]> {
  const result = await options.invoke({ Records: records }, mergeLineages(records.map(readLineage)));
  if (result.functionError)
    options.log(`batch of ${records.length} failed: ${JSON.stringify(result.payload)}`);
  return doneMessages(records, result, options.reportsItemFailures);
}

/** A message that is not deleted is delivered again, which every consumer of a standard queue must handle. */
async function remove(
  records: readonly QueueRecord[],
  { queues, queueUrl, log }: QueueSourceOptions,
): Promise<void> {
  for (const handles of handlesByCall(records)) {
    try {
      await queues.delete(queueUrl, handles);
    } catch (error) {
      log(`deleting ${handles.length} messages failed: ${describeEngineError(error)}`);
    }
  }
}

/** Makes messages of the last poll visible at once, for the next run. */
async function giveBack(
  records: readonly QueueRecord[],
  { queues, queueUrl, log }: QueueSourceOptions,
): Promise<void> {
  for (const handles of handlesByCall(records)) {
    try {
      await queues.release(queueUrl, handles);
    } catch (error) {
      log(`giving ${handles.length} messages back failed: ${describeEngineError(error)}`);
    }
  }
}

function handlesByCall(records: readonly QueueRecord[]): string[][] {
  const handles = records.map(({ receiptHandle }) => receiptHandle);
  const calls: string[][] = [];
  while (handles.length > 0) calls.push(handles.splice(0, CALL_LIMIT));
  return calls;
}
