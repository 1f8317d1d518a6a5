import { ExpiredIteratorException, type ShardIteratorType } from '@aws-sdk/client-dynamodb-streams';
import { describeEngineError } from '../engine-errors.ts';
import type { WaitForChange } from './change-signals.ts';
import type { Filter } from './filter.ts';
import { pause } from './pause.ts';
import type { StreamRecords } from './record-reader.ts';
import type { StreamRecord } from './stream-records.ts';

const ERROR_PAUSE_MS = 500;
/** Delay after a partial batch, so that the next one gathers more; AWS polls a shard four times a second. */
const COMPANY_MS = 20;
/** Poll interval while records wait for a batching window. */
const GATHER_POLL_MS = 100;
/** Limit of `GetRecords`. */
const PAGE_LIMIT = 1000;
/** Position of a closed shard that was read to its end. */
export const SHARD_END = 'SHARD_END';

/** Sequence number by source and shard, kept across restarts. */
export interface Checkpoints {
  get(source: string, shard: string): string | undefined;
  set(source: string, shard: string, position: string): void;
}

/** Processes a shard's records and decides where to resume after a crash. */
export interface Consumer {
  /**
   * @param position sequence number of the last record read, which a filter may have dropped
   * @returns false when the records must be read again
   */
  take(records: readonly StreamRecord[], position: string): Promise<boolean>;
  /**
   * Called when there is nothing to read, for now or because the shard is closed.
   * @param askedAt epoch milliseconds before the request: all records written until then were taken
   * @returns false on failure
   */
  rest(isClosed: boolean, askedAt: number): Promise<boolean>;
}

export interface ShardOptions {
  /** Names the source's checkpoints. */
  source: string;
  streamArn: string;
  shardId: string;
  /** Start without a checkpoint. */
  startingPosition: ShardIteratorType;
  /** Records that end the batching window early. */
  batchSize: number;
  lanes: number;
  batchingWindowSeconds: number;
  passes: Filter;
  records: StreamRecords;
  /** Awaited when the shard had no records. */
  waitForChange: WaitForChange;
  checkpoints: Checkpoints;
  consumer: Consumer;
  log: (text: string) => void;
}

/** Whether a shard has been read to its end. */
export function isFinished(checkpoints: Checkpoints, source: string, shardId: string): boolean {
  return checkpoints.get(source, shardId) === SHARD_END;
}

/** Position of this run in a shard; the checkpoint may be older. */
interface Progress {
  position: string | undefined;
}

/** Reads a shard until it is closed and empty, or the signal aborts. Retries an engine that fails. */
export async function readShard(options: ShardOptions, signal: AbortSignal): Promise<void> {
  const progress: Progress = { position: options.checkpoints.get(options.source, options.shardId) };
  let lastError = '';
  while (!signal.aborted) {
    try {
      await readPages(options, progress, signal);
      return;
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ExpiredIteratorException) continue;
      const text = describeEngineError(error);
      // An engine that is down fails the same way twice a second.
      if (text !== lastError) options.log(`shard ${options.shardId}: ${text}`);
      lastError = text;
      await pause(ERROR_PAUSE_MS, signal);
    }
  }
}

async function readPages(options: ShardOptions, progress: Progress, signal: AbortSignal): Promise<void> {
  const { checkpoints, consumer, source, shardId, batchSize, lanes } = options;
  const reader = await options.records.open({ ...options, position: progress.position });
  let gathered = new Gathering(options);
  for (let closed = false; !closed && !signal.aborted; ) {
    const askedAt = Date.now();
    const { records, isClosed } = await reader.next(Math.min(PAGE_LIMIT, batchSize * lanes), signal);
    closed = isClosed;
    gathered.add(records, Date.now());

    if (gathered.position !== undefined && (closed || gathered.isDue(Date.now()))) {
      if (!(await consumer.take(gathered.records, gathered.position))) return;
      progress.position = gathered.position;
      // One invocation for a few events costs little more than one for a single event.
      if (gathered.records.length > 0 && gathered.records.length < batchSize) await pause(COMPANY_MS, signal);
      gathered = new Gathering(options);
    }
    const isEmpty = records.length === 0 && gathered.position === undefined;
    if ((closed || isEmpty) && !(await consumer.rest(closed, askedAt))) return;
    if (closed) continue;
    if (records.length === 0) await options.waitForChange(signal);
    else if (gathered.position !== undefined) await pause(GATHER_POLL_MS, signal);
  }
  if (!signal.aborted) checkpoints.set(source, shardId, SHARD_END);
}

/** Records that wait until the batch is full or the batching window ends. */
class Gathering {
  readonly records: StreamRecord[] = [];
  /** Sequence number of the last record read, whether it passed the filter or not. */
  position: string | undefined;
  readonly #options: ShardOptions;
  #since = 0;

  constructor(options: ShardOptions) {
    this.#options = options;
  }

  add(records: readonly StreamRecord[], now: number): void {
    if (this.records.length === 0) this.#since = now;
    this.records.push(...records.filter((record) => this.#options.passes(record)));
    this.position = records.at(-1)?.dynamodb.SequenceNumber ?? this.position;
  }

  isDue(now: number): boolean {
    const { batchSize, batchingWindowSeconds } = this.#options;
    const waited = now - this.#since >= batchingWindowSeconds * 1000;
    return this.records.length === 0 || this.records.length >= batchSize || waited;
  }
}
