import { Duration } from 'aws-cdk-lib';
import { Grant } from 'aws-cdk-lib/aws-iam';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import type * as sqs from 'aws-cdk-lib/aws-sqs';
import { acknowledge } from './acknowledgements.ts';
import type { ServiceFunction } from './service-function.ts';
import type { DataTable } from './tables.ts';

/*
 * What feeds functions. The CDK's own event sources grant more than Lambda asks for, and keys besides, which
 * here are a matter of the keys.
 */

/**
 * What Lambda does with a queue in the name of its reader (Lambda Developer Guide, Configuring SQS
 * permissions).
 */
const POLLS_QUEUE = ['sqs:DeleteMessage', 'sqs:GetQueueAttributes', 'sqs:ReceiveMessage'];
/**
 * And with a stream; the shard of a record it reads is chosen by it (Process DynamoDB records, Permissions).
 */
const POLLS_STREAM = ['dynamodb:DescribeStream', 'dynamodb:GetRecords', 'dynamodb:GetShardIterator'];

export interface QueueSourceProps {
  batchSize: number;
  /** Batches in progress at once, at least 2. */
  maxConcurrency: number;
  /** How long a batch is waited for. Seconds. */
  batchSeconds?: number;
}

/** @param invoked what the messages go to, when it is not the function as such but an alias of it */
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
    maxConcurrency,
    reportBatchItemFailures: true,
    ...(batchSeconds === undefined ? {} : { maxBatchingWindow: Duration.seconds(batchSeconds) }),
  });
}

export interface StreamSourceProps
  extends Omit<lambda.EventSourceMappingOptions, 'eventSourceArn' | 'startingPosition' | 'onFailure'> {
  /** Takes what the stream gave up. */
  onFailure?: sqs.IQueue;
}

/** What the source of a stream's reader is called. */
export const STREAM_SOURCE = 'FromStream';

/** Reads a table's stream from its beginning on. */
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
