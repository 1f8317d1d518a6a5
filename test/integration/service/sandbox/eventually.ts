import { until } from 'aws-local/test/until.ts';

const TIMEOUT_MS = 90_000;
const EVERY_MS = 250;

/** Waits for something slow with few polls, so that the polls do not take machine time from it. */
export const eventually: typeof until = (what, condition) => until(what, condition, TIMEOUT_MS, EVERY_MS);
