import * as z from 'zod';
import { tableOfStream } from '../arns.ts';
import { LocalRunError } from '../errors.ts';
import { MAX_INVOCATIONS_IN_CHAIN } from '../functions/lineage.ts';
import type { LocalFunction } from '../functions/runtime.ts';
import { parseProperties } from '../provision/properties.ts';
import type { References } from '../template/references.ts';
import type { Resource, Template } from '../template/template.ts';
import type { WaitForChange } from './change-signals.ts';
import { type DiscardedBatch, failureMessage } from './failure-destination.ts';
import { compileFilters } from './filter.ts';
import { isStream, requireValid } from './mapping-rules.ts';
import { startQueueSource } from './queue.ts';
import type { QueueRecord } from './queue-records.ts';
import type { Queues } from './queues.ts';
import type { StreamRecords } from './record-reader.ts';
import type { Checkpoints } from './shard.ts';
import type { Source } from './source.ts';
import { startStreamSource } from './stream.ts';

/** Default concurrency of a queue's function; Lambda also starts with 5. */
const DEFAULT_QUEUE_CONCURRENCY = 5;
/** Limit for one mapping, regardless of its concurrency on AWS: slow work must leave sandboxes to others. */
const LARGEST_SHARE = 6;

const Mapping = z.object({
  EventSourceArn: z.string(),
  FunctionName: z.string(),
  Enabled: z.boolean().default(true),
  BatchSize: z.number().optional(),
  MaximumBatchingWindowInSeconds: z.number().default(0),
  FilterCriteria: z.object({ Filters: z.array(z.object({ Pattern: z.string() })).default([]) }).optional(),
  FunctionResponseTypes: z.array(z.string()).default([]),
  ScalingConfig: z.object({ MaximumConcurrency: z.number().min(2).max(1000) }).optional(),
  StartingPosition: z.enum(['TRIM_HORIZON', 'LATEST']).optional(),
  BisectBatchOnFunctionError: z.boolean().default(false),
  MaximumRecordAgeInSeconds: z.number().default(-1),
  MaximumRetryAttempts: z.number().default(-1),
  ParallelizationFactor: z.number().min(1).max(10).default(1),
  TumblingWindowInSeconds: z.number().min(0).max(900).default(0),
  DestinationConfig: z.object({ OnFailure: z.object({ Destination: z.string() }) }).optional(),
});

/** An `AWS::Lambda::EventSourceMapping` with its properties resolved. */
export interface EventSourceMapping extends z.output<typeof Mapping> {
  logicalId: string;
}

export interface MappingParts {
  queues: Queues;
  records: StreamRecords;
  changeReader: (table: string) => WaitForChange;
  checkpoints: Checkpoints;
  functionOf: (nameOrArn: string) => LocalFunction;
  queueUrlOf: (arn: string) => string;
  /** Undefined when the queue has no dead-letter queue. */
  deadLetterArnOf: (queueArn: string) => string | undefined;
  /** Called after each invocation of a mapping, by its logical id. */
  onProcessed: (logicalId: string, succeeded: boolean) => void;
  log: (line: { source: string; text: string }) => void;
}

/**
 * The template's mappings, disabled ones included.
 * @throws LocalRunError for a mapping that Lambda would reject
 */
export function eventSourceMappings(template: Template, references: References): EventSourceMapping[] {
  return template.ofType('AWS::Lambda::EventSourceMapping').map((resource: Resource) =>
    requireValid({
      logicalId: resource.logicalId,
      ...parseProperties(Mapping, resource, references),
    }),
  );
}

/** Maximum of concurrent invocations of a mapping. */
export function shareOf(mapping: EventSourceMapping): number {
  const wanted = isStream(mapping)
    ? mapping.ParallelizationFactor
    : (mapping.ScalingConfig?.MaximumConcurrency ?? DEFAULT_QUEUE_CONCURRENCY);
  return Math.min(wanted, LARGEST_SHARE);
}

/**
 * Invokes a mapping's function from its queue or stream, in its own lane.
 * @throws LocalRunError for another kind of source, and for unsupported filters
 */
export function startMapping(mapping: EventSourceMapping, parts: MappingParts): Source {
  if (isStream(mapping)) return startStream(mapping, parts);
  if (mapping.EventSourceArn.includes(':sqs:')) return startQueue(mapping, parts);
  throw new LocalRunError(
    `${mapping.logicalId}: the local run does not know this event source: ${mapping.EventSourceArn}`,
  );
}

function startQueue(mapping: EventSourceMapping, parts: MappingParts): Source {
  const fn = parts.functionOf(mapping.FunctionName);
  const lane = fn.lane(shareOf(mapping));
  return startQueueSource({
    ...commonOptions(mapping, parts),
    isLoop: (lineage) => !fn.allowsLoops && (lineage.get(fn.name) ?? 0) >= MAX_INVOCATIONS_IN_CHAIN,
    discardLoop: (record) => discardLoop(record, mapping, fn.name, parts),
    queues: parts.queues,
    queueUrl: parts.queueUrlOf(mapping.EventSourceArn),
    queueArn: mapping.EventSourceArn,
    batchSize: mapping.BatchSize ?? 10,
    concurrency: () => lane.concurrency,
    reportsItemFailures: reportsItemFailures(mapping),
    invoke: (event, lineage) => lane.invoke(event, lineage),
  });
}

/** As on AWS, the message goes to its queue's dead-letter queue, or is lost without one. */
async function discardLoop(
  { body, attributes }: QueueRecord,
  { logicalId, EventSourceArn }: EventSourceMapping,
  functionName: string,
  { queues, queueUrlOf, deadLetterArnOf, log }: MappingParts,
): Promise<void> {
  const deadLetterArn = deadLetterArnOf(EventSourceArn);
  const where = deadLetterArn === undefined ? 'dropped' : `moved to ${deadLetterArn}`;
  log({
    source: logicalId,
    text: `recursive loop: ${functionName} was invoked ${MAX_INVOCATIONS_IN_CHAIN} times in one chain of messages and its RecursiveLoop is not Allow; the message is ${where}`,
  });
  if (deadLetterArn === undefined) return;
  const header = attributes.AWSTraceHeader ?? '';
  await queues.send(queueUrlOf(deadLetterArn), {
    MessageBody: body,
    MessageSystemAttributes: { AWSTraceHeader: { DataType: 'String', StringValue: header } },
  });
}

function startStream(mapping: EventSourceMapping, parts: MappingParts): Source {
  const fn = parts.functionOf(mapping.FunctionName);
  const lane = fn.lane(shareOf(mapping));
  const destination = mapping.DestinationConfig?.OnFailure.Destination;
  return startStreamSource({
    ...commonOptions(mapping, parts),
    id: mapping.logicalId,
    records: parts.records,
    changeReader: () => parts.changeReader(tableOfStream(mapping.EventSourceArn)),
    checkpoints: parts.checkpoints,
    streamArn: mapping.EventSourceArn,
    functionArn: fn.arn,
    startingPosition: mapping.StartingPosition ?? 'TRIM_HORIZON',
    batchSize: mapping.BatchSize ?? 100,
    lanes: mapping.ParallelizationFactor,
    windowSeconds: mapping.TumblingWindowInSeconds,
    policy: {
      maximumRetryAttempts: mapping.MaximumRetryAttempts,
      maximumRecordAgeSeconds: mapping.MaximumRecordAgeInSeconds,
      bisectOnError: mapping.BisectBatchOnFunctionError,
      reportsItemFailures: reportsItemFailures(mapping),
    },
    discard: destination === undefined ? undefined : sendTo(parts.queueUrlOf(destination), parts.queues),
    async invoke(event) {
      const result = await lane.invoke(event);
      parts.onProcessed(mapping.logicalId, !result.functionError);
      return result;
    },
  });
}

function commonOptions(mapping: EventSourceMapping, parts: MappingParts) {
  const patterns = mapping.FilterCriteria?.Filters ?? [];
  return {
    batchingWindowSeconds: mapping.MaximumBatchingWindowInSeconds,
    passes: compileFilters(patterns.map(({ Pattern }) => Pattern)),
    log: (text: string) => parts.log({ source: mapping.logicalId, text }),
  };
}

function reportsItemFailures({ FunctionResponseTypes }: EventSourceMapping): boolean {
  return FunctionResponseTypes.includes('ReportBatchItemFailures');
}

function sendTo(queueUrl: string, queues: Queues): (batch: DiscardedBatch) => Promise<void> {
  return (batch) => queues.send(queueUrl, { MessageBody: JSON.stringify(failureMessage(batch, new Date())) });
}
