import type { AttemptMetrics } from '../../functions/delivery/attempt.ts';

/** For tests that do not check metrics. */
export const noMeasures: AttemptMetrics = { attempt: () => undefined, disabled: () => undefined };
