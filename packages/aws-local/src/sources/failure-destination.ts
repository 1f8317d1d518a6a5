import { randomUUID } from 'node:crypto';
import type { InvocationResult } from '../functions/sandbox.ts';
import type { DiscardCondition } from './batch.ts';
import type { StreamRecord } from './stream-records.ts';

export interface DiscardedBatch {
  records: readonly StreamRecord[];
  condition: DiscardCondition;
  /** How often the function was invoked with them. */
  invocations: number;
  /** Result of the last invocation, if any. */
  result?: InvocationResult;
  functionArn: string;
  streamArn: string;
  shardId: string;
}

/**
 * Lambda's message to a stream mapping's failure destination, which identifies the records without their
 * content. https://docs.aws.amazon.com/lambda/latest/dg/services-dynamodb-errors.html
 */
export function failureMessage(batch: DiscardedBatch, now: Date): Record<string, unknown> {
  const first = batch.records[0]?.dynamodb;
  const last = batch.records.at(-1)?.dynamodb;
  return {
    requestContext: {
      requestId: randomUUID(),
      functionArn: batch.functionArn,
      condition: batch.condition,
      approximateInvokeCount: batch.invocations,
    },
    ...(batch.result ? { responseContext: responseContext(batch.result) } : {}),
    version: '1.0',
    timestamp: now.toISOString(),
    DDBStreamBatchInfo: {
      shardId: batch.shardId,
      startSequenceNumber: first?.SequenceNumber,
      endSequenceNumber: last?.SequenceNumber,
      approximateArrivalOfFirstRecord: isoTime(first?.ApproximateCreationDateTime),
      approximateArrivalOfLastRecord: isoTime(last?.ApproximateCreationDateTime),
      batchSize: batch.records.length,
      streamArn: batch.streamArn,
    },
  };
}

function responseContext({ functionError }: InvocationResult): Record<string, unknown> {
  return { statusCode: 200, executedVersion: '$LATEST', ...(functionError ? { functionError } : {}) };
}

/** In whole seconds: `2019-11-14T00:13:19Z`. */
function isoTime(epochSeconds = 0): string {
  return new Date(epochSeconds * 1000).toISOString().replace('.000Z', 'Z');
}
