import { Duration } from 'aws-cdk-lib';
import { Grant } from 'aws-cdk-lib/aws-iam';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import type * as sqs from 'aws-cdk-lib/aws-sqs';
import { acknowledge } from './acknowledgements.ts';
import type { ServiceFunction } from './service-function.ts';
import { ServiceStack } from './stacks/service-stack.ts';
import type { DataTable } from './tables.ts';

/*
 * Event sources of functions. The CDK's own grant more than Lambda requires, and access to keys, which the
 * key policies grant here.
 */

/** Lambda's actions on a queue (Lambda Developer Guide, Configuring SQS permissions). */
const POLLS_QUEUE = ['sqs:DeleteMessage', 'sqs:GetQueueAttributes', 'sqs:ReceiveMessage'];
/** Lambda's actions on a stream (Process DynamoDB records, Permissions). */
const POLLS_STREAM = ['dynamodb:DescribeStream', 'dynamodb:GetRecords', 'dynamodb:GetShardIterator'];

export interface QueueSourceProps {
  batchSize: number;
  /** Concurrent batches, at least 2, where the stage sets a maximum. */
  maxConcurrency: number;
  /** Batching window in seconds. */
  batchSeconds?: number;
}

/** @param invoked alias that receives the messages; the function itself by default */
export function feedFromQueue(
  fn: ServiceFunction,
  queue: sqs.IQueue,
  { batchSize, maxConcurrency, batchSeconds }: QueueSourceProps,
  invoked: lambda.IFunction = fn,
): lambda.EventSourceMapping {
  Grant.addToPrincipal({ grantee: fn, actions: POLLS_QUEUE, resourceArns: [queue.queueArn] });
  return new lambda.EventSourceMapping(fn, `From${queue.node.path.replaceAll(/^[^/]*|\/|Queue$/g, '')}`, {
    target: invoked,
    eventSourceArn: queue.queueArn,
    batchSize,
    ...(!ServiceStack.of(fn).policy.lowCost && { maxConcurrency }),
    reportBatchItemFailures: true,
    ...(batchSeconds === undefined ? {} : { maxBatchingWindow: Duration.seconds(batchSeconds) }),
  });
}

export interface StreamSourceProps
  extends Omit<lambda.EventSourceMappingOptions, 'eventSourceArn' | 'startingPosition' | 'onFailure'> {
  /** Receives records that the stream gives up. */
  onFailure?: sqs.IQueue;
}

/** Id of a stream's event source mapping. */
export const STREAM_SOURCE = 'FromStream';

/** Reads a table's stream from its oldest record. */
export function feedFromStream(
  fn: ServiceFunction,
  table: DataTable,
  { onFailure, ...options }: StreamSourceProps,
  invoked: lambda.IFunction = fn,
): void {
  const eventSourceArn = table.streamArn;
  Grant.addToPrincipal({ grantee: fn, actions: POLLS_STREAM, resourceArns: [eventSourceArn] });
  Grant.addToPrincipal({ grantee: fn, actions: ['dynamodb:ListStreams'], resourceArns: ['*'] });
  acknowledge(fn.role ?? fn, {
    'IAM5[Resource::*]':
      'dynamodb:ListStreams, which the event source mapping calls, has no resource to be limited to.',
  });
  if (onFailure)
    Grant.addToPrincipal({ grantee: fn, actions: ['sqs:SendMessage'], resourceArns: [onFailure.queueArn] });
  new lambda.EventSourceMapping(fn, STREAM_SOURCE, {
    ...options,
    target: invoked,
    eventSourceArn,
    startingPosition: lambda.StartingPosition.TRIM_HORIZON,
    ...(onFailure === undefined ? {} : { onFailure: { bind: () => ({ destination: onFailure.queueArn }) } }),
  });
}
