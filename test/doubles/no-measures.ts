import type { AttemptMetrics } from '../../functions/engine/attempt-delivery.ts';

/** Where nobody looks at what is measured. */
export const noMeasures: AttemptMetrics = { attempt: () => undefined, disabled: () => undefined };
