import { linesWithCredentials } from '../../../support/canaries.ts';
import type { LogLine } from './stack.ts';

/** Log lines of requests that failed unexpectedly. */
export const failedRequests = (log: readonly LogLine[]): LogLine[] =>
  log.filter(({ source, text }) => source === 'gateway' || text.includes('REQUEST_FAILED'));

/** A test makes a request fail on purpose, by a conversation whose status cannot be read. */
const isOnPurpose = ({ text }: LogLine): boolean =>
  text.includes('"route":"read-conversation"') && text.includes('"issues":["status invalid_value"]');

/** What no test may cause in the shared stack, by its log. */
export const findFaults = (log: readonly LogLine[]): string[] => [
  ...linesWithCredentials(log.map(({ text }) => text)).map((line) => `a credential: ${line}`),
  ...failedRequests(log.filter((line) => !isOnPurpose(line))).map(
    ({ text }) => `an unexpected failure: ${text}`,
  ),
];
