/**
 * Estimates batch sizes of event source mappings, which only Lambda determines: it polls a stream's shard
 * four times a second and starts a queue with five pollers (Lambda Developer Guide, "Using Lambda with
 * DynamoDB" and "Using Lambda with Amazon SQS"). Assumes random, even arrival of records.
 */
const STREAM_POLL_SECONDS = 0.25;
/** An on-demand table starts with four partitions of 1,000 writes a second each. */
const LEAST_SHARDS = 4;
const WRITES_OF_A_SHARD = 1000;
const QUEUE_POLLERS = 5;
/** Time between two receives of a queue with messages. */
const QUEUE_POLL_SECONDS = 0.02;

export interface Mapping {
  source: 'queue' | 'stream';
  batchSize: number;
  windowSeconds: number;
}

/**
 * Mean records per batch, from 1 to the mapping's batch size.
 * @param perSecond records that arrive
 */
export function batchOf({ source, batchSize, windowSeconds }: Mapping, perSecond: number): number {
  const isStream = source === 'stream';
  const readers = isStream ? countShards(perSecond) : QUEUE_POLLERS;
  const seconds = windowSeconds + (isStream ? STREAM_POLL_SECONDS : QUEUE_POLL_SECONDS);
  return Math.min(batchSize, truncatedMean((perSecond / readers) * seconds));
}

/** A stream has one shard per partition of its table. */
const countShards = (perSecond: number): number => Math.max(LEAST_SHARDS, perSecond / WRITES_OF_A_SHARD);

/**
 * Mean of the zero-truncated Poisson distribution: arrivals in a time with `expected` on average, given at
 * least one.
 */
const truncatedMean = (expected: number): number =>
  expected < 1e-9 ? 1 : Math.max(1, expected / -Math.expm1(-expected));

/** Expected number of distinct ones among `endpoints`, for `records` at random endpoints. */
export const distinct = (endpoints: number, records: number): number =>
  endpoints <= 1
    ? Math.min(1, records)
    : Math.min(records, endpoints * -Math.expm1(records * Math.log1p(-1 / endpoints)));
