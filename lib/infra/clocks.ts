import * as lambda from 'aws-cdk-lib/aws-lambda';
import * as sqs from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import { type AttemptClocks, findClockFaults } from '../../functions/delivery/timing.ts';

/**
 * Checks the template's timeouts at the end of synthesis: an attempt must end within its function's timeout,
 * the function within the lease, and the lease within the message's visibility timeout, less the batching
 * window.
 */
export function checkClocks(
  scope: Construct,
  {
    dispatch,
    lanes,
    clocks,
  }: {
    dispatch: lambda.Function;
    lanes: readonly { queue: sqs.Queue; mapping: lambda.EventSourceMapping }[];
    clocks: AttemptClocks;
  },
): void {
  scope.node.addValidation({
    validate: () =>
      lanes.flatMap(({ queue, mapping }) =>
        findClockFaults({
          ...clocks,
          functionTimeout: readTimeout(dispatch),
          visibility: readVisibility(queue) - readWindow(mapping),
        }),
      ),
  });
}

/** From the template, or AWS's default. */
const readTimeout = ({ node }: lambda.Function): number =>
  (node.defaultChild instanceof lambda.CfnFunction ? node.defaultChild.timeout : undefined) ?? 3;
const readWindow = ({ node }: lambda.EventSourceMapping): number =>
  (node.defaultChild instanceof lambda.CfnEventSourceMapping
    ? node.defaultChild.maximumBatchingWindowInSeconds
    : undefined) ?? 0;
const readVisibility = ({ node }: sqs.Queue): number =>
  (node.defaultChild instanceof sqs.CfnQueue ? node.defaultChild.visibilityTimeout : undefined) ?? 30;
