import type { Work } from './measured.ts';

/*
 * How long Lambda charges for an invocation. Durations of this machine are not Lambda's, so the time is put
 * together: the processor time that was measured, by the share of a processor that the memory brings, and the
 * requests that are waited for.
 */

/** MiB that bring one whole processor (Lambda Developer Guide, "Configure function memory"). */
const MIB_OF_A_PROCESSOR = 1769;
/** From a request to its answer, within a region: an estimate, of what DynamoDB and SQS commonly take. */
export const REQUEST_MS = 5;

/**
 * GB-seconds of invocations.
 * @param memoryMiB of the function
 * @param invocations how many
 * @param work all that they do together
 * @param waits milliseconds of each, in which it does nothing but wait for others
 */
export function gbSecondsOf(memoryMiB: number, invocations: number, work: Work, waits: number): number {
  const share = Math.min(1, memoryMiB / MIB_OF_A_PROCESSOR);
  const milliseconds = work.cpuMs / share + invocations * waits;
  return (milliseconds / 1000) * (memoryMiB / 1024);
}
