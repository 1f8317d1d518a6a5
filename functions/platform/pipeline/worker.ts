import type { Logger } from '@aws-lambda-powertools/logger';
import type { MiddlewareObj } from '@middy/core';

/** Puts the invocation's request id and function into every line that a worker logs. */
export const logContext = (logger: Logger): MiddlewareObj => ({
  before: ({ context }) => {
    logger.addContext(context);
  },
});
