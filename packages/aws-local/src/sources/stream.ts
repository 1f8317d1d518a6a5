import type { Shard } from '@aws-sdk/client-dynamodb-streams';
import { describeEngineError } from '../engine-errors.ts';
import type { WaitForChange } from './change-signals.ts';
import type { DiscardedBatch } from './failure-destination.ts';
import type { Filter } from './filter.ts';
import { pause } from './pause.ts';
import type { StreamRecords } from './record-reader.ts';
import { type Checkpoints, type Consumer, isFinished, readShard } from './shard.ts';
import type { Source } from './source.ts';
import { processRecords, type StreamBatchesOptions } from './stream-batches.ts';
import { windowedConsumer } from './windowed-batches.ts';

/** Interval of checks for shards that are not children of one just finished. */
const DISCOVERY_MS = 30_000;
const RETRY_MS = 500;

export interface StreamSourceOptions extends Omit<StreamBatchesOptions, 'discard'> {
  /** Names the source's checkpoints: the mapping's logical id. */
  id: string;
  streamArn: string;
  functionArn: string;
  startingPosition: 'TRIM_HORIZON' | 'LATEST';
  batchingWindowSeconds: number;
  /** `TumblingWindowInSeconds`; 0 for none. */
  windowSeconds: number;
  passes: Filter;
  records: StreamRecords;
  /** Creates the wait of each shard's reader when it has nothing to read. */
  changeReader: () => WaitForChange;
  checkpoints: Checkpoints;
  /** Failure destination of the mapping; without one, discarded records are only logged. */
  discard?: (batch: DiscardedBatch) => Promise<void>;
}

/** Invokes a function from a DynamoDB stream, as an event source mapping does. */
export function startStreamSource(options: StreamSourceOptions): Source {
  const stopping = new AbortController();
  const done = followStream(options, stopping.signal);
  return {
    stop() {
      stopping.abort();
      return done;
    },
  };
}

async function followStream(options: StreamSourceOptions, signal: AbortSignal): Promise<void> {
  const readers = new Map<string, Promise<void>>();
  let first = true;
  while (!signal.aborted) {
    const shards = await listShards(options, signal);
    for (const shard of shards) {
      const { ShardId: shardId } = shard;
      if (shardId === undefined || readers.has(shardId) || !isNext(shard, shards, options)) continue;
      readers.set(
        shardId,
        readOne(shardId, first ? options.startingPosition : 'TRIM_HORIZON', options, signal),
      );
    }
    first = first && shards.length === 0;
    // A reader that ends has finished its shard, so its children can start.
    const running = [...readers].filter(([id]) => !isFinished(options.checkpoints, options.id, id));
    await Promise.race([
      ...running.map(([, reader]) => reader),
      pause(shards.length > 0 ? DISCOVERY_MS : RETRY_MS, signal),
    ]);
  }
  await Promise.all(readers.values());
}

/**
 * A shard starts after its parent has finished, if the stream still has it, so that an item's records stay in
 * order.
 */
function isNext(shard: Shard, shards: readonly Shard[], { checkpoints, id }: StreamSourceOptions): boolean {
  const parent = shards.find(({ ShardId }) => ShardId === shard.ParentShardId);
  const isBlocked = parent?.ShardId !== undefined && !isFinished(checkpoints, id, parent.ShardId);
  return !isBlocked && !isFinished(checkpoints, id, shard.ShardId ?? '');
}

function readOne(
  shardId: string,
  startingPosition: 'TRIM_HORIZON' | 'LATEST',
  options: StreamSourceOptions,
  signal: AbortSignal,
): Promise<void> {
  const { id: source, changeReader } = options;
  const consumer = createConsumer(shardId, options, signal);
  return readShard(
    { ...options, source, shardId, startingPosition, consumer, waitForChange: changeReader() },
    signal,
  );
}

function createConsumer(shardId: string, options: StreamSourceOptions, signal: AbortSignal): Consumer {
  const { id, streamArn, functionArn, checkpoints, log, discard, windowSeconds } = options;
  const checkpoint = (position: string): void => checkpoints.set(id, shardId, position);
  const batches: StreamBatchesOptions = {
    ...options,
    async discard(discarded) {
      log(`gave up ${discarded.records.length} records: ${discarded.condition}`);
      await discard?.({ ...discarded, functionArn, streamArn, shardId });
    },
  };
  if (windowSeconds > 0)
    return windowedConsumer({ ...batches, windowSeconds, shardId, streamArn, checkpoint }, signal);
  return {
    // The checkpoint moves between batches: a crash repeats the current one.
    async take(records, position) {
      if (!(await processRecords(records, batches, signal))) return false;
      checkpoint(position);
      return true;
    },
    rest: async () => true,
  };
}

async function listShards(
  { records, streamArn, log }: StreamSourceOptions,
  signal: AbortSignal,
): ReturnType<StreamRecords['shards']> {
  try {
    return await records.shards(streamArn, signal);
  } catch (error) {
    if (!signal.aborted) log(`stream ${streamArn}: ${describeEngineError(error)}`);
    return [];
  }
}
