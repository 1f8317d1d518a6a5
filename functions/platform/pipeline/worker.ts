import type { MiddlewareObj } from '@middy/core';
import { summaryOf } from '../failure-fields.ts';
import { type Logging, logger } from '../logger.ts';
import { FAILED_INVOCATIONS } from '../metric-names.ts';
import { count, publishMetrics } from '../metrics.ts';

/** What a worker threw, as far as it may be told: Lambda writes what a handler throws into the log, message and all. */
export class InvocationFailed extends Error {
  override name = 'InvocationFailed';
}

/**
 * What every worker's invocation has around it: its lines name it, its metrics are written when it ends, and what it throws is told by the log
 * and goes on without its text.
 */
export const invocation = ({ log, begin }: Logging = logger): MiddlewareObj => ({
  before: ({ context }) => begin(context),
  after: () => publishMetrics(),
  onError: (request) => {
    log('INVOCATION_FAILED', { error: request.error });
    count(FAILED_INVOCATIONS);
    publishMetrics();
    request.error = new InvocationFailed(summaryOf(request.error));
  },
});
