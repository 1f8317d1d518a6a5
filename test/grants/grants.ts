import { allows } from '../../lib/local/permissions/permissions.ts';
import type { PermissionRequest } from '../../lib/local/permissions/requests.ts';
import type { Statement } from '../../lib/local/permissions/statements.ts';

/** One action on one resource. */
export interface Grant {
  action: string;
  resource: string;
}

/** What feeds a function. */
export interface EventSource {
  /** Of a queue or a stream. */
  arn: string;
  /** Queue for what the stream gave up. */
  failuresTo?: string;
}

/**
 * What the Lambda service does with the role of a function that an event source feeds (Lambda Developer Guide, Using Lambda with Amazon SQS,
 * and with DynamoDB: Execution role permissions).
 */
export function usedByLambda({ arn, failuresTo }: EventSource): Grant[] {
  const on = (resource: string, ...actions: string[]) => actions.map((action) => ({ action, resource }));
  if (arn.includes(':sqs:'))
    return on(arn, 'sqs:DeleteMessage', 'sqs:GetQueueAttributes', 'sqs:ReceiveMessage');
  return [
    ...on(arn, 'dynamodb:DescribeStream', 'dynamodb:GetRecords', 'dynamodb:GetShardIterator'),
    ...on('*', 'dynamodb:ListStreams'),
    ...(failuresTo === undefined ? [] : on(failuresTo, 'sqs:SendMessage')),
  ];
}

/** Actions by which the Lambda service writes the log of a function: no call of the function. */
const LOGGING = new Set(['logs:CreateLogStream', 'logs:PutLogEvents']);

/** A stream's name ends in when it was begun, which is another for each service under test. */
const ofAnyTime = (resource: string): string => resource.replace(/(\/stream\/).*$/, '$1*');

/** All that statements allow, logs apart. */
export const grantsOf = (statements: readonly Statement[]): Grant[] =>
  statements
    .filter(({ effect }) => effect === 'Allow')
    .flatMap(({ actions, resources }) =>
      actions.flatMap((action) => resources.map((resource) => ({ action, resource: ofAnyTime(resource) }))),
    )
    .filter(({ action }) => !LOGGING.has(action));

export interface Difference {
  /** Granted, and never used. */
  unused: Grant[];
  /** Used, and not granted. */
  missing: Grant[];
}

/** Where what a role allows and what was done with it differ. */
export function difference(statements: readonly Statement[], used: readonly PermissionRequest[]): Difference {
  const covers = ({ action, resource }: Grant, { action: done, resource: on, or }: PermissionRequest) => {
    const statement: Statement = { effect: 'Allow', actions: [action], resources: [resource] };
    return [on, ...(or === undefined ? [] : [or])].some((one) => allows([statement], done, ofAnyTime(one)));
  };
  const grants = grantsOf(statements);
  return {
    unused: grants.filter((grant) => !used.some((one) => covers(grant, one))),
    missing: used.filter((one) => !grants.some((grant) => covers(grant, one))),
  };
}
