import { linesWithCredentials } from '../../../support/canaries.ts';
import type { StackName } from './settings.ts';
import type { LogLine } from './stack.ts';

/** Log lines of requests that failed unexpectedly. */
export const failedRequests = (log: readonly LogLine[]): LogLine[] =>
  log.filter(({ source, text }) => source === 'gateway' || text.includes('REQUEST_FAILED'));

/** What no test may cause in a shared stack, by its log. */
const FAULTS: Readonly<Record<StackName, (log: readonly LogLine[]) => string[]>> = {
  // Its tests make requests fail on purpose.
  defaults: (log) => linesWithCredentials(log.map(({ text }) => text)).map((line) => `a credential: ${line}`),
  withoutWaits: (log) => failedRequests(log).map(({ text }) => `an unexpected failure: ${text}`),
};

export const findFaults = (name: StackName, log: readonly LogLine[]): string[] => FAULTS[name](log);
