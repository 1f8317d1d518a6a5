import * as z from 'zod/mini';

const text = z.string();

/** Where in a stream the records are that a stream's mapping gave up. */
export const DiscardedRecords = z.object({
  streamArn: text,
  shardId: text,
  startSequenceNumber: text,
  endSequenceNumber: text,
});
export type DiscardedRecords = z.infer<typeof DiscardedRecords>;

/** What a dead letter of the outbox's stream names: records of the stream, or entries of the outbox by their keys. */
export type DeadLetter =
  | { kind: 'records'; records: DiscardedRecords }
  | { kind: 'entries'; ids: readonly string[] };

/** As they stand in a queue: what Lambda sends to the failure destination of a stream's mapping, and what is left for later by keys. */
export const DeadLetter = z.union([
  z.pipe(
    z.object({ DDBStreamBatchInfo: DiscardedRecords }),
    z.transform(({ DDBStreamBatchInfo: records }): DeadLetter => ({ kind: 'records', records })),
  ),
  z.object({ kind: z.literal('entries'), ids: z.array(text) }),
]);
