import type { InvocationResult } from '../functions/sandbox.ts';
import type { StreamRecord } from './stream-records.ts';

/** Failure settings of a stream mapping; -1 means no limit, as in the template. */
export interface BatchPolicy {
  maximumRetryAttempts: number;
  maximumRecordAgeSeconds: number;
  bisectOnError: boolean;
  reportsItemFailures: boolean;
}

/** Records for one invocation, and how often they have failed. */
export interface Batch {
  records: readonly StreamRecord[];
  failures: number;
}

export type DiscardCondition = 'RetryAttemptsExhausted' | 'RecordAgeExceeded';

/** Next step after an invocation: none, batches to run in this order, or the failure destination. */
export type Verdict =
  | { kind: 'done' }
  | { kind: 'again'; batches: Batch[] }
  | { kind: 'discard'; condition: DiscardCondition };

/**
 * Index of the first record to repeat: 0 when the function failed, the lowest reported failure with
 * `ReportBatchItemFailures`, undefined on success. An empty or unknown identifier fails the whole batch.
 */
export function firstFailure(
  records: readonly StreamRecord[],
  result: InvocationResult,
  reportsItemFailures: boolean,
): number | undefined {
  if (result.functionError) return 0;
  if (!reportsItemFailures) return undefined;
  const identifiers = failedItems(result.payload);
  if (identifiers.length === 0) return undefined;
  const positions = identifiers.map((id) =>
    records.findIndex((record) => record.dynamodb.SequenceNumber === id),
  );
  return Math.max(0, Math.min(...positions));
}

/** `itemIdentifier`s of a partial batch response; another payload means success. */
export function failedItems(payload: unknown): unknown[] {
  if (typeof payload !== 'object' || payload === null || !('batchItemFailures' in payload)) return [];
  const { batchItemFailures } = payload;
  if (!Array.isArray(batchItemFailures)) return [];
  return batchItemFailures.map((failure: unknown) =>
    typeof failure === 'object' && failure !== null && 'itemIdentifier' in failure
      ? failure.itemIdentifier
      : undefined,
  );
}

/** Progress resets the count of failures; halving a batch does not count as a retry. */
export function judge(batch: Batch, result: InvocationResult, policy: BatchPolicy): Verdict {
  const failed = firstFailure(batch.records, result, policy.reportsItemFailures);
  if (failed === undefined) return { kind: 'done' };
  const rest = { records: batch.records.slice(failed), failures: failed > 0 ? 1 : batch.failures + 1 };
  if (failed === 0 && policy.bisectOnError && rest.records.length > 1) {
    const middle = Math.ceil(rest.records.length / 2);
    const halves = [rest.records.slice(0, middle), rest.records.slice(middle)];
    return { kind: 'again', batches: halves.map((records) => ({ records, failures: batch.failures })) };
  }
  const exhausted = policy.maximumRetryAttempts >= 0 && rest.failures > policy.maximumRetryAttempts;
  return exhausted
    ? { kind: 'discard', condition: 'RetryAttemptsExhausted' }
    : { kind: 'again', batches: [rest] };
}

/** Separates records that are too old to try (again). */
export function partByAge(
  records: readonly StreamRecord[],
  policy: BatchPolicy,
  now: number,
): { expired: StreamRecord[]; current: StreamRecord[] } {
  const limit = policy.maximumRecordAgeSeconds;
  const isExpired = ({ dynamodb }: StreamRecord): boolean =>
    limit >= 0 && now / 1000 - dynamodb.ApproximateCreationDateTime > limit;
  return { expired: records.filter(isExpired), current: records.filter((record) => !isExpired(record)) };
}
