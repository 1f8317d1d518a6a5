import { allows } from 'aws-local/permissions/permissions.ts';
import type { PermissionRequest } from 'aws-local/permissions/requests.ts';
import type { Statement } from 'aws-local/permissions/statements.ts';

/** The event source of a function. */
export interface EventSource {
  /** Of a queue or a stream. */
  arn: string;
  /** Queue for the batches that the stream gave up. */
  failuresTo?: string;
}

/**
 * What Lambda's poller does with the role of a function (Lambda Developer Guide, Using Lambda with Amazon
 * SQS, and with DynamoDB: execution role permissions).
 */
export function usedByLambda({ arn, failuresTo }: EventSource): PermissionRequest[] {
  const on = (resource: string, ...actions: string[]) => actions.map((action) => ({ action, resource }));
  if (arn.includes(':sqs:'))
    return on(arn, 'sqs:DeleteMessage', 'sqs:GetQueueAttributes', 'sqs:ReceiveMessage');
  return [
    ...on(arn, 'dynamodb:DescribeStream', 'dynamodb:GetRecords', 'dynamodb:GetShardIterator'),
    ...on('*', 'dynamodb:ListStreams'),
    ...(failuresTo === undefined ? [] : on(failuresTo, 'sqs:SendMessage')),
  ];
}

/** The name of a stream ends in its creation time, which differs for each service under test. */
const ofAnyTime = (resource: string): string => resource.replace(/(\/stream\/).*$/, '$1*');

/** Calls that are not allowed. */
export function missingGrants<R extends PermissionRequest>(
  statements: readonly Statement[],
  used: readonly R[],
): R[] {
  const allowed = statements.map((one) => ({ ...one, resources: one.resources.map(ofAnyTime) }));
  return used.filter(
    ({ action, resource, or }) =>
      !allows(allowed, action, ofAnyTime(resource)) &&
      (or === undefined || !allows(allowed, action, ofAnyTime(or))),
  );
}
