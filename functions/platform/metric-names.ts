/** Namespace and dimension of what alarms watch, for the functions that count and the stack that watches. */
export const METRICS = { namespace: 'ConversationService', serviceName: 'api' } as const;
export const RATE_LIMITER_FAILURES = 'RateLimiterFailures';
