import type { DispatchMeasures } from '../../functions/engine/dispatch.ts';

/** Where nobody looks at what is measured. */
export const noMeasures: DispatchMeasures = { attempt: () => undefined, disabled: () => undefined };
