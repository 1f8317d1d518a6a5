import type { AttemptMetrics } from '../../functions/engine/attempt-delivery.ts';

/** For tests that do not check metrics. */
export const noMeasures: AttemptMetrics = { attempt: () => undefined, disabled: () => undefined };
