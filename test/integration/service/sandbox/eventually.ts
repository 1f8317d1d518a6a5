import { until } from 'aws-local/test/until.ts';

const TIMEOUT_MS = 90_000;
const EVERY_MS = 250;

/** Waits for what takes seconds, so that looking for it does not take them from it. */
export const eventually: typeof until = (what, condition) => until(what, condition, TIMEOUT_MS, EVERY_MS);
