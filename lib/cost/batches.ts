/**
 * How many records the batches hold that event source mappings make. Nothing that runs here tells: it is
 * Lambda's own doing. What is published of it (Lambda Developer Guide, "Using Lambda with DynamoDB" and
 * "Using Lambda with Amazon SQS"): a stream's shards are read four times a second each, a queue begins with
 * five pollers. Records that arrive evenly at random are taken for given.
 */
const STREAM_POLL_SECONDS = 0.25;
/** A table on demand begins with four partitions, of a thousand writes a second each. */
const LEAST_SHARDS = 4;
const WRITES_OF_A_SHARD = 1000;
const QUEUE_POLLERS = 5;
/** From one receive to the next of a queue that has messages. */
const QUEUE_POLL_SECONDS = 0.02;

export interface Mapping {
  source: 'queue' | 'stream';
  batchSize: number;
  windowSeconds: number;
}

/**
 * The mean number of records of a batch.
 * @param perSecond records that arrive
 * @returns from 1 to the mapping's batch size, more as more arrive
 */
export function batchOf({ source, batchSize, windowSeconds }: Mapping, perSecond: number): number {
  const isStream = source === 'stream';
  const readers = isStream ? shardsOf(perSecond) : QUEUE_POLLERS;
  const seconds = windowSeconds + (isStream ? STREAM_POLL_SECONDS : QUEUE_POLL_SECONDS);
  return Math.min(batchSize, meanOfSome((perSecond / readers) * seconds));
}

/** Shards of a stream, one for each partition of its table. */
const shardsOf = (perSecond: number): number => Math.max(LEAST_SHARDS, perSecond / WRITES_OF_A_SHARD);

/**
 * How many arrive in a time in which `expected` do on average, given that some do: of the Poisson
 * distribution without its zero.
 */
const meanOfSome = (expected: number): number =>
  expected < 1e-9 ? 1 : Math.max(1, expected / -Math.expm1(-expected));

/** How many different ones of `endpoints` are among `records` that may each be of any. */
export const distinct = (endpoints: number, records: number): number =>
  endpoints <= 1
    ? Math.min(1, records)
    : Math.min(records, endpoints * -Math.expm1(records * Math.log1p(-1 / endpoints)));
