import { Logger } from '@aws-lambda-powertools/logger';

/** Structured logs. Name and level come from POWERTOOLS_SERVICE_NAME and POWERTOOLS_LOG_LEVEL. Bodies and secrets are never logged. */
export const logger = new Logger();
